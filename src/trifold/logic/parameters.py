"""The parameters ⟨t,k,L⟩ that a finite set of joins needs, and what each coordinate of an embedding stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trifold.logic.formulas import Atom, Conjunction, Disjunction, Formula, Join, Negation, converse
from trifold.logic.fragment import required_t


@dataclass(frozen=True)
class Gate:
    """How the update computes one coordinate: γ₁ ∧ … ∧ γ_m ∧ (δ₁ ∨ … ∨ δ_p), or the negation of an atom δ₁.

    Of the disjuncts δ, atoms and joins arrive as messages; they need no coordinate of their own. The other disjuncts
    and the conjuncts γ are read from the embedding.
    """

    formula: Formula
    conjuncts: tuple[Formula, ...]
    disjuncts: tuple[Formula, ...]

    @classmethod
    def of(cls, formula: Formula) -> Gate:
        """The gate that computes a formula."""
        match formula:
            case Negation(atom):
                return cls(formula, (), (atom,))
            case Disjunction(operands):
                return cls(formula, (), operands)
            case Conjunction(operands):
                inner = next((i for i, part in enumerate(operands) if isinstance(part, Disjunction | Join)), None)
                if inner is None:
                    return cls(formula, operands, ())
                return cls(formula, operands[:inner] + operands[inner + 1 :], cls.of(operands[inner]).disjuncts)
            case _:
                return cls(formula, (), (formula,))

    @property
    def joins(self) -> list[Join]:
        """The disjuncts that are joins."""
        return [part for part in self.disjuncts if isinstance(part, Join)]

    @property
    def atoms(self) -> list[Atom]:
        """The disjuncts that are atoms."""
        return [part for part in self.disjuncts if isinstance(part, Atom)]

    @property
    def read(self) -> list[Formula]:
        """The disjuncts that are read from the embedding."""
        return [part for part in self.disjuncts if not isinstance(part, Atom | Join)]

    @property
    def sources(self) -> list[Formula]:
        """Every formula that must have a coordinate for this gate, its joins' operands included."""
        operands = [operand for join in self.joins for operand in composed(join)]
        return [*self.conjuncts, *self.read, *operands]


def composed(join: Join) -> tuple[Formula, Formula]:
    """The operands as △(⟨x,z⟩,⟨z,y⟩,⟨x,y⟩) meets them: left of ⟨x,z⟩, and the converse of right of ⟨z,y⟩."""
    return join.left, converse(join.right)


def build_gates(formulas: Sequence[Formula]) -> list[Gate]:
    """One gate per coordinate: the given formulas first, in order, then all that they need, each once."""
    gates = [Gate.of(formula) for formula in formulas]
    known = set(formulas)
    for gate in gates:  # grows while it is walked
        for source in gate.sources:
            if source not in known:
                known.add(source)
                gates.append(Gate.of(source))
    return gates


@dataclass(frozen=True)
class Parameters:
    """⟨t, k, L⟩: a larger t, k or L does as well.

    t        the least with all operands of joins in R_t
    dim      k: one coordinate per gate, and a third of the number of joins if that is more
    layers   L: the most gates that wait for each other

    >>> near = Atom("near")
    >>> parameters([near & ~Atom("far"), Join(near, near)])
    Parameters(t=1, dim=5, layers=2)
    """

    t: int
    dim: int
    layers: int


def parameters(formulas: Sequence[Formula]) -> Parameters:
    """The parameters of an R-GNN[t] that computes these joins; joins outside the fragment are refused."""
    t = required_t(formulas)
    gates = build_gates(formulas)
    joins = {join for gate in gates for join in gate.joins}
    sources = {gate.formula: gate.sources for gate in gates}
    depths: dict[Formula, int] = {}

    def depth(formula: Formula) -> int:
        if formula not in depths:
            depths[formula] = 1 + max(map(depth, sources[formula]), default=0)
        return depths[formula]

    return Parameters(t, max(len(gates), -(-len(joins) // 3)), max(map(depth, formulas), default=0))
