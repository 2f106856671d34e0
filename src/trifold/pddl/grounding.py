"""Grounding: the STRIPS actions of a small problem over its reachable atoms, from pymimir's lifted form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from trifold.errors import TrifoldError
from trifold.pddl.actions import GroundName
from trifold.pddl.problem import Problem

MAX_ACTIONS, MAX_ATOMS = 5_000, 2_000
"""More than these are refused: grounding and testing them costs more than pymimir's search does."""

Fact = tuple[str, tuple[str, ...]]
"""A ground atom: predicate and objects."""

Term = int | str
"""A parameter of an action, by its place, or an object, by its name."""

Relations = defaultdict[str, set[tuple[str, ...]]]
"""The tuples of objects that each static predicate holds of."""


class GroundingError(TrifoldError):
    """The problem is not STRIPS with negative preconditions, or it has too many ground actions or atoms."""


class GroundAction(NamedTuple):
    """An action's conditions and effects, as numbers of atoms, ascending; an atom both deleted and added is added."""

    positive: tuple[int, ...]
    negative: tuple[int, ...]
    added: tuple[int, ...]
    deleted: tuple[int, ...]


@dataclass(frozen=True)
class Grounding:
    """A problem without variables.

    atoms    the atoms that can be true if nothing is ever deleted, and the goal's, sorted by relation and arguments
    initial  numbers of the initial atoms
    actions  the actions that may be applicable in some state, distinct and sorted
    goal     numbers of the atoms that must hold, and of those that must not
    names    what a plan calls the actions, sorted as the domain's schemas and the problem's objects are
    called   for each action, the indices of its names: several actions of a plan may do the same, and an action with a
             disjunctive or existential condition is several here
    """

    atoms: tuple[Fact, ...]
    initial: tuple[int, ...]
    actions: tuple[GroundAction, ...]
    goal: tuple[tuple[int, ...], tuple[int, ...]]
    names: tuple[GroundName, ...]
    called: tuple[tuple[int, ...], ...]


class _Action(NamedTuple):
    """An action over atoms that have no numbers yet."""

    name: GroundName
    positive: tuple[Fact, ...]
    negative: tuple[Fact, ...]
    added: tuple[Fact, ...]
    deleted: tuple[Fact, ...]


class _Lifted(NamedTuple):
    """A literal with variables."""

    predicate: str
    terms: tuple[Term, ...]
    positive: bool

    def ground(self, binding: dict[Term, str]) -> Fact:
        return self.predicate, tuple(binding[term] for term in self.terms)


def ground(problem: Problem, max_actions: int | None = None) -> Grounding:
    """Ground a problem's actions, or refuse with GroundingError what is not STRIPS, or too large.

    More than `max_actions` are too many, `MAX_ACTIONS` if it is None.
    Not STRIPS are derived atoms, universal conditions, and conditional or universal effects.
    Disjunctive and existential conditions are fine: pymimir has turned them into more actions and parameters.
    """
    max_actions = MAX_ACTIONS if max_actions is None else max_actions
    engine = problem.engine.problem
    if len(engine.get_problem_and_domain_derived_predicates()):
        raise GroundingError("it has derived atoms, or conditions with forall", place=problem.name)
    static: Relations = defaultdict(set)  # types and = among them
    for name, arguments in map(_fact, engine.get_static_initial_atoms()):
        static[name].add(arguments)

    candidates: list[_Action] = []
    for action in engine.get_domain().get_actions():
        candidates += _ground_action(action, static, problem, max_actions)
        if len(candidates) > max_actions:
            raise GroundingError(f"it has more than {max_actions:,} ground actions", place=problem.name)
    initial = set(map(_fact, engine.get_fluent_initial_atoms()))
    reached, actions = _relax(initial, candidates)
    goal: tuple[list[Fact], list[Fact]] = ([], [])
    for literal in engine.get_fluent_goal_literals():
        goal[0 if literal.get_polarity() else 1].append(_fact(literal.get_atom()))
    atoms = sorted(reached.union(*goal), key=lambda fact: problem.atom_index.row(*fact))
    if len(atoms) > MAX_ATOMS:
        raise GroundingError(f"it has more than {MAX_ATOMS:,} atoms that may change", place=problem.name)
    number = {fact: index for index, fact in enumerate(atoms)}

    def numbers(facts: Iterable[Fact]) -> tuple[int, ...]:
        """Ascending; an atom without a number is never true, so nothing asks for it and deleting it does nothing."""
        return tuple(sorted({number[fact] for fact in facts if fact in number}))

    called: dict[GroundAction, set[GroundName]] = defaultdict(set)
    for action in actions:
        called[GroundAction(*map(numbers, action[1:]))].add(action.name)
    names = problem.sort_actions(set().union(*called.values()))
    index = {name: i for i, name in enumerate(names)}
    numbered = sorted(called)
    return Grounding(
        tuple(atoms),
        numbers(initial),
        tuple(numbered),
        (numbers(goal[0]), numbers(goal[1])),
        tuple(names),
        tuple(tuple(sorted(index[name] for name in called[action])) for action in numbered),
    )


def _ground_action(action: Any, static: Relations, problem: Problem, max_actions: int) -> list[_Action]:
    """All instances of an action whose static conditions hold."""
    places = {parameter.get_variable().get_index(): i for i, parameter in enumerate(action.get_parameters())}
    effects = []
    for effect in action.get_conditional_effects():
        when = effect.get_conjunctive_condition()
        if len(when.get_parameters()) + len(when.get_static_literals()) + len(when.get_fluent_literals()):
            raise GroundingError(f"its action {action.get_name()} has a conditional effect", place=problem.name)
        effects += _read(effect.get_conjunctive_effect().get_literals(), places)
    condition = action.get_conjunctive_condition()
    conditions = _read(condition.get_fluent_literals(), places)
    static_conditions = _read(condition.get_static_literals(), places)

    terms = {term for literal in (*static_conditions, *conditions, *effects) for term in literal.terms}
    start: dict[Term, str] = {term: term for term in terms if isinstance(term, str)}
    relations = [(static[literal.predicate], literal.terms) for literal in static_conditions if literal.positive]
    relations += [({(name,) for name in problem.objects}, (place,)) for place in places.values()]
    refuted = [literal for literal in static_conditions if not literal.positive]
    arity = dict(problem.domain.schemas)[action.get_name()]  # further parameters are those of existential conditions
    instances = []
    for binding in _join(relations, start, problem, max_actions):
        if not any(literal.ground(binding)[1] in static[literal.predicate] for literal in refuted):
            parts = ((literals, sign) for literals in (conditions, effects) for sign in (True, False))
            facts = (tuple(lit.ground(binding) for lit in part if lit.positive is sign) for part, sign in parts)
            name = (action.get_name(), tuple(binding[place] for place in range(arity)))
            instances.append(_Action(name, *facts))
    return instances


def _fact(atom: Any) -> Fact:
    """pymimir's ground atom as ours."""
    return atom.get_predicate().get_name(), tuple(item.get_name() for item in atom.get_objects())


def _read(literals: Iterable[Any], places: dict[int, int]) -> list[_Lifted]:
    """pymimir's literals as ours."""
    from pymimir.advanced.formalism import Variable

    read = []
    for literal in literals:
        atom = literal.get_atom()
        terms = [term.get() for term in atom.get_terms()]
        names = (places[term.get_index()] if isinstance(term, Variable) else term.get_name() for term in terms)
        read.append(_Lifted(atom.get_predicate().get_name(), tuple(names), literal.get_polarity()))
    return read


def _join(
    relations: list[tuple[set[tuple[str, ...]], tuple[Term, ...]]],
    start: dict[Term, str],
    problem: Problem,
    max_actions: int,
) -> list[dict[Term, str]]:
    """All ways to extend a binding so that each relation holds of its terms."""
    bindings, bound = [start], set(start)

    def growth(relation: tuple[set[tuple[str, ...]], tuple[Term, ...]]) -> tuple[float, int]:
        """How many rows a binding meets on average, and how many terms are new."""
        rows, terms = relation
        known = [place for place, term in enumerate(terms) if term in bound]
        return len(rows) / (len({tuple(row[place] for place in known) for row in rows}) or 1), len(terms) - len(known)

    while relations:
        rows, terms = relations.pop(min(range(len(relations)), key=lambda index: growth(relations[index])))
        known = [place for place, term in enumerate(terms) if term in bound]
        matches = defaultdict(list)
        for row in rows:
            matches[tuple(row[place] for place in known)].append(row)
        extended = []
        for binding in bindings:
            for row in matches.get(tuple(binding[terms[place]] for place in known), ()):
                longer = binding | dict(zip(terms, row, strict=True))
                if all(longer[term] == name for term, name in zip(terms, row, strict=True)):  # p(?x ?x)
                    extended.append(longer)
        bindings = extended
        bound.update(terms)
        if len(bindings) > max_actions:
            raise GroundingError(f"it has more than {max_actions:,} ground actions", place=problem.name)
    return bindings


def _relax(initial: set[Fact], actions: list[_Action]) -> tuple[set[Fact], list[_Action]]:
    """The atoms that become true, and the actions that become applicable, if nothing is ever deleted."""
    missing = [len(set(action.positive)) for action in actions]
    waiting = defaultdict(list)
    for index, action in enumerate(actions):
        for fact in set(action.positive):
            waiting[fact].append(index)
    reached, pending, ready = set(initial), list(initial), []
    free = [index for index, count in enumerate(missing) if not count]
    while pending or free:
        for index in free:
            ready.append(index)
            new = set(actions[index].added) - reached
            reached |= new
            pending += new
        free = []
        if pending:
            for index in waiting[pending.pop()]:
                missing[index] -= 1
                if not missing[index]:
                    free.append(index)
    return reached, [actions[index] for index in sorted(ready)]
