"""The class J₃ of C₃-relational joins: formulas φ(x,y) over binary relations, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, ClassVar, Literal, Self, cast
from weakref import WeakValueDictionary

from trifold.errors import TrifoldError

VARIABLES = ("x", "y", "z")
"""Formulas have the free variables x and y. Three names are enough however deep joins are nested."""

BRIEF = 60
"""How many pieces of a formula its short form shows; the whole text of a formula that shares its parts can be huge."""


@dataclass(frozen=True, eq=False, repr=False)
class Formula:
    """A relational join φ(x,y), immutable.

    Formulas that look alike are one object, so ``==`` is identity, and a formula of which parts occur many times costs
    as much as its distinct parts. ``&``, ``|`` and ``~`` build formulas; chains of ``&`` or ``|`` have one level.

    >>> on, clear = Atom("on"), Atom("beside", "yx")
    >>> print((on | clear) & ~on)
    (on(x,y) ∨ beside(y,x)) ∧ ¬on(x,y)
    >>> print(Join(Join(on, on), clear))
    ∃z[∃y[on(x,y) ∧ on(z,y)] ∧ beside(z,y)]
    """

    _known: ClassVar[WeakValueDictionary[tuple[Any, ...], Formula]] = WeakValueDictionary()

    def __new__(cls, *values: Any) -> Self:
        return cast(Self, cls._known.setdefault((cls, *values), object.__new__(cls)))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas that it is made of directly."""
        return ()

    def __and__(self, other: Formula) -> Conjunction:
        return Conjunction(_level(Conjunction, self, other))

    def __or__(self, other: Formula) -> Disjunction:
        return Disjunction(_level(Disjunction, self, other))

    def __invert__(self) -> Negation:
        if not isinstance(self, Atom):
            raise TrifoldError(f"J₃ has negated atoms only, not the negation of {self!r}")
        return Negation(self)

    def __str__(self) -> str:
        return "".join(_pieces(self, *VARIABLES))

    def __repr__(self) -> str:
        pieces = list(islice(_pieces(self, *VARIABLES), BRIEF + 1))
        return "".join(pieces[:BRIEF]) + ("…" if len(pieces) > BRIEF else "")


@dataclass(frozen=True, eq=False, repr=False)
class Atom(Formula):
    """R(x,y), or R(y,x)."""

    relation: str
    arguments: Literal["xy", "yx"] = "xy"

    def __new__(cls, relation: str, arguments: Literal["xy", "yx"] = "xy") -> Self:
        return super().__new__(cls, relation, arguments)


@dataclass(frozen=True, eq=False, repr=False)
class Negation(Formula):
    """¬R(x,y), or ¬R(y,x)."""

    atom: Atom

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The atom."""
        return (self.atom,)


@dataclass(frozen=True, eq=False, repr=False)
class Chain(Formula):
    """Two or more formulas between which one operator stands."""

    operands: tuple[Formula, ...]

    def __post_init__(self) -> None:
        if len(self.operands) < 2:
            raise ValueError(f"a {type(self).__name__.lower()} has at least two operands, not {len(self.operands)}")

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The operands."""
        return self.operands


class Conjunction(Chain):
    """φ₁(x,y) ∧ … ∧ φ_n(x,y)."""


class Disjunction(Chain):
    """φ₁(x,y) ∨ … ∨ φ_n(x,y)."""


@dataclass(frozen=True, eq=False, repr=False)
class Join(Formula):
    """∃z[left(x,z) ∧ right(y,z)]."""

    left: Formula
    right: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        """Both sides."""
        return self.left, self.right


def subformulas(formulas: Iterable[Formula]) -> list[Formula]:
    """Every formula that these are made of, and themselves: each once, parts before wholes."""
    found: dict[Formula, None] = {}

    def visit(formula: Formula) -> None:
        if formula not in found:
            for part in formula.parts:
                visit(part)
            found[formula] = None

    for formula in formulas:
        visit(formula)
    return list(found)


def converse(formula: Formula) -> Formula:
    """φ(y,x): the formula that holds of ⟨u,v⟩ iff φ holds of ⟨v,u⟩. It is no larger.

    >>> print(converse(Join(Atom("key"), Atom("lock"))))
    ∃z[lock(x,z) ∧ key(y,z)]
    """
    turned: dict[Formula, Formula] = {}
    for part in subformulas([formula]):
        match part:
            case Atom(relation, arguments):
                turned[part] = Atom(relation, "yx" if arguments == "xy" else "xy")
            case Negation(atom):
                turned[part] = ~turned[atom]
            case Conjunction(operands) | Disjunction(operands):
                turned[part] = type(part)(tuple(turned[operand] for operand in operands))
            case Join(left, right):
                turned[part] = Join(right, left)
    return turned[formula]


def _level(kind: type[Chain], *formulas: Formula) -> tuple[Formula, ...]:
    """The operands of a chain of one operator, whichever way it was built."""
    return tuple(part for formula in formulas for part in (formula.parts if isinstance(formula, kind) else [formula]))


def _pieces(formula: Formula, first: str, second: str, third: str) -> Iterator[str]:
    """The text of φ(first, second), which may use the third variable in its joins."""
    match formula:
        case Atom(relation, arguments):
            yield f"{relation}({first},{second})" if arguments == "xy" else f"{relation}({second},{first})"
        case Negation(atom):
            yield "¬"
            yield from _pieces(atom, first, second, third)
        case Conjunction(operands) | Disjunction(operands):
            for index, operand in enumerate(operands):
                if index:
                    yield " ∧ " if isinstance(formula, Conjunction) else " ∨ "
                yield from _operand(operand, first, second, third)
        case Join(left, right):
            yield f"∃{third}["
            yield from _operand(left, first, third, second)
            yield " ∧ "
            yield from _operand(right, second, third, first)
            yield "]"


def _operand(formula: Formula, first: str, second: str, third: str) -> Iterator[str]:
    chain = isinstance(formula, Chain)
    yield "(" if chain else ""
    yield from _pieces(formula, first, second, third)
    yield ")" if chain else ""
