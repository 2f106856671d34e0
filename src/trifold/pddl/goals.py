"""Goals: conjunctions of literals, and what is one once its quantifiers are written out over the problem's objects.

A network sees a goal by its literals, p@goal(w). ``forall`` is therefore written out, and so are ``exists``, ``or`` and
``imply`` where equality and what never changes leave one way to make them true. Where several are left, the goal is
refused: an invented atom in its place would hide the objects that it is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from trifold.errors import TrifoldError
from trifold.expressions import Expression, Source
from trifold.pddl.description import DomainDescription, Literal, check_atom
from trifold.pddl.formulas import CONNECTIVES, NUMERIC, And, Atom, Exists, ForAll, Formula, Not, Or, Scope, Variable
from trifold.pddl.syntax import refuse

MAX_INSTANCES = 100_000
"""A goal of which more parts would be written out is refused."""

Literals = tuple[Literal, ...]
"""What must hold together: nothing at all if empty."""


class DisjunctiveGoal(TrifoldError):
    """The goal leaves several ways to make it true."""


def read_goal(
    parts: Sequence[Expression],
    domain: DomainDescription,
    objects: Mapping[str, tuple[str, ...]],
    initial: Collection[Literal],
    source: Source,
) -> tuple[Formula, Literals]:
    """The goal as it is written, and as the literals that it comes to, each once; another goal is refused."""
    scope = Scope(source, domain.predicates, domain.types, objects, domain.derived, "(:objects …)")
    ground = _Grounding(domain, objects, frozenset(initial))
    formulas: list[Formula] = []
    literals: list[Literal] = []
    for part in parts:
        for conjunct in _conjuncts(part):
            _check(conjunct, domain, objects, source)
            formulas.append(scope.formula(conjunct))
            try:
                literals += ground.literals(formulas[-1])
            except _NoConjunction as reason:
                raise DisjunctiveGoal(
                    f"the goal is not a conjunction of literals: {reason}",
                    place=source.place(conjunct.line, conjunct),
                    remedy="write the goal as (and …) of atoms and negated atoms: give one way to reach it, or let an "
                    "action of the domain achieve a new atom where the condition holds, and ask for that",
                ) from None
    return And(tuple(formulas)), tuple(dict.fromkeys(literals))


def _conjuncts(part: Expression) -> Iterator[Expression]:
    if part.head == "and":
        for inner in part.items[1:]:
            yield from _conjuncts(inner)
    elif part.items or part.word:
        yield part


def _check(part: Expression, domain: DomainDescription, objects: Mapping[str, tuple[str, ...]], source: Source) -> None:
    """Refuse preferences, and atoms without variables whose objects do not fit; `Scope` refuses all else."""
    if part.head in domain.predicates or not part.is_list:
        if not any(word.startswith("?") for word in part.words):
            check_atom(part, domain, objects, source)
    elif part.head == "preference":
        raise refuse(":preferences", source, part, ())
    elif part.head in CONNECTIVES:
        for inner in part.items[2 if part.head in ("forall", "exists") else 1 :]:
            _check(inner, domain, objects, source)
    elif part.head not in NUMERIC | {"=", ""}:
        check_atom(part, domain, objects, source)


class _NoConjunction(Exception):
    """Why a formula comes to no conjunction of literals."""


@dataclass
class _Grounding:
    """Formulas of a goal, written out over the objects of a problem."""

    domain: DomainDescription
    objects: Mapping[str, tuple[str, ...]]
    initial: frozenset[Literal]
    instances: int = field(default=0, init=False)
    members: dict[tuple[str, ...], list[str]] = field(default_factory=dict, init=False)

    def literals(self, formula: Formula) -> Literals:
        """The literals that a formula comes to."""
        found = self._ground(formula, True, {}, keep=True)
        if found is None:
            raise _NoConjunction("it can never hold")
        return found

    def _ground(self, formula: Formula, positive: bool, binding: Mapping[str, str], keep: bool) -> Literals | None:
        """The literals that make the formula true, or if not positive false; None if nothing does.

        If `keep`, an atom that never changes is a literal as any other; within a disjunction it decides.
        """
        self.instances += 1
        if self.instances > MAX_INSTANCES:
            raise _NoConjunction(f"written out it has more than {MAX_INSTANCES:,} parts")
        match formula:
            case Atom("=", (left, right)):
                return () if (binding.get(left, left) == binding.get(right, right)) is positive else None
            case Atom(predicate, terms):
                atom = Literal(predicate, tuple(binding.get(term, term) for term in terms))
                if keep or predicate in self.domain.changing:
                    return (atom._replace(positive=positive),)
                return () if (atom in self.initial) is positive else None
            case Not(part):
                return self._ground(part, not positive, binding, keep)
            case And(parts) | Or(parts):
                ways = ((part, binding) for part in parts)
                is_conjunction = isinstance(formula, And) is positive
            case Exists(variables, part) | ForAll(variables, part):
                ways = ((part, dict(binding) | own) for own in self._bindings(variables))
                is_conjunction = isinstance(formula, ForAll) is positive
        if is_conjunction:
            return self._all(self._ground(part, positive, own, keep) for part, own in ways)
        return self._one(self._ground(part, positive, own, False) for part, own in ways)

    def _all(self, parts: Iterator[Literals | None]) -> Literals | None:
        found: dict[Literal, None] = {}
        for part in parts:
            if part is None:
                return None
            found.update(dict.fromkeys(part))
        return tuple(found)

    def _one(self, parts: Iterator[Literals | None]) -> Literals | None:
        """The one part that can be made true; nothing must be if one is true already."""
        found = {part for part in parts if part is not None}
        if () in found:
            return ()
        if len(found) > 1:
            first, second = (" ".join(map(str, part)) for part in sorted(found)[:2])
            raise _NoConjunction(f"it holds where {first} does, and also where {second} does")
        return next(iter(found), None)

    def _bindings(self, variables: Sequence[Variable]) -> Iterator[dict[str, str]]:
        names = [variable.name for variable in variables]
        members = [self._fitting(variable.types) for variable in variables]
        return (dict(zip(names, chosen, strict=True)) for chosen in product(*members))

    def _fitting(self, types: tuple[str, ...]) -> list[str]:
        if types not in self.members:
            fits = (name for name, own in self.objects.items() if self.domain.types_above(own) & set(types))
            self.members[types] = list(fits)
        return self.members[types]
