"""PDDL read off its definition, over nested lists and with nested loops: a judge that shares no line with Trifold.

It believes what it reads: a text that breaks the rules of PDDL may get any meaning, or any Python error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from fuzz.shrinking import parse

Atom = tuple[str, ...]
Atoms = frozenset[Atom]
Binding = dict[str, str]
Formula = Any  # nested lists of words


def typed(words: list[Any]) -> list[tuple[str, set[str]]]:
    """The names of a typed list, each with its types."""
    names: list[str] = []
    found, rest = [], iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest)
            found += [(name, set(kind[1:]) if isinstance(kind, list) else {kind}) for name in names]
            names = []
        else:
            names.append(word)
    return found + [(name, {"object"}) for name in names]


class NaiveTask:
    """A problem's initial state, actions and goal; states are the sets of their true atoms, derived ones aside."""

    def __init__(self, domain: str, problem: str) -> None:
        (parsed_domain,), (parsed_problem,) = parse(domain.lower()), parse(problem.lower())
        parents: dict[str, set[str]] = {}
        for name, above in typed(_section(parsed_domain, ":types")):
            parents.setdefault(name, set()).update(above)
        objects = typed(_section(parsed_domain, ":constants")) + typed(_section(parsed_problem, ":objects"))
        self.types = {name: _closed(kinds | {"object"}, parents) for name, kinds in objects}
        self.initial: Atoms = frozenset(
            tuple(atom) for atom in _section(parsed_problem, ":init") if atom[0] not in ("=", "not")
        )
        self.goal = _read_variables(["and", *_section(parsed_problem, ":goal")])
        self.actions: dict[str, tuple[list[tuple[str, set[str]]], Formula, Formula]] = {}
        for _, name, *rest in _all(parsed_domain, ":action"):
            parts = dict(zip(rest[::2], rest[1::2], strict=True))
            parameters = typed(parts.get(":parameters", []))
            condition, effect = (_read_variables(parts.get(part, [])) for part in (":precondition", ":effect"))
            self.actions[name] = (parameters, condition, effect)
        self.axioms = [
            (head[0], typed(head[1:]), _read_variables(body)) for _, head, body in _all(parsed_domain, ":derived")
        ]
        self._members: dict[frozenset[str], list[str]] = {}
        self.layers = self._layers()
        self._closures: dict[Atoms, Atoms] = {}

    def applicable(self, state: Atoms) -> list[str]:
        """The applicable actions, such as ``(pick-up a)``, sorted."""
        true = self.closure(state)
        return sorted(
            f"({' '.join((name, *(binding[variable] for variable, _ in parameters)))})"
            for name, (parameters, condition, _) in self.actions.items()
            for binding in self._bindings(parameters)
            if self._holds(condition, true, binding)
        )

    def is_applicable(self, state: Atoms, action: str) -> bool:
        """Whether the text names an action with objects of the right types whose condition holds."""
        name, *arguments = action[1:-1].split()
        if name not in self.actions or len(arguments) != len(self.actions[name][0]):
            return False
        parameters, condition, _ = self.actions[name]
        fit = all(self.types[given] & kinds for given, (_, kinds) in zip(arguments, parameters, strict=True))
        binding = dict(zip((variable for variable, _ in parameters), arguments, strict=True))
        return fit and self._holds(condition, self.closure(state), binding)

    def apply(self, state: Atoms, action: str) -> Atoms:
        """The state after the action: what it deletes goes, then what it adds comes."""
        name, *arguments = action[1:-1].split()
        parameters, _, effect = self.actions[name]
        binding = dict(zip((variable for variable, _ in parameters), arguments, strict=True))
        changes = list(self._changes(effect, self.closure(state), binding))
        removed = {atom for atom, is_added in changes if not is_added}
        return (state - removed) | {atom for atom, is_added in changes if is_added}

    def is_goal(self, state: Atoms) -> bool:
        return self._holds(self.goal, self.closure(state), {})

    def closure(self, state: Atoms) -> Atoms:
        """The state with its derived atoms: layer by layer, until nothing follows any more."""
        if state not in self._closures:
            true = set(state)
            for layer in self.layers:
                size = -1
                while size != len(true):
                    size = len(true)
                    true |= {
                        (name, *(binding[variable] for variable, _ in parameters))
                        for name, parameters, body in layer
                        for binding in self._bindings(parameters)
                        if self._holds(body, true, binding)
                    }
            self._closures[state] = frozenset(true)
        return self._closures[state]

    def _bindings(self, variables: list[tuple[str, set[str]]]) -> Iterator[Binding]:
        """All ways to let the variables stand for objects that have one of their types."""
        names, wanted = [name for name, _ in variables], [frozenset(kinds) for _, kinds in variables]
        for kinds in wanted:
            if kinds not in self._members:
                self._members[kinds] = [name for name, given in self.types.items() if given & kinds]
        members = [self._members[kinds] for kinds in wanted]
        return (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*members))

    def _holds(self, formula: Formula, true: set[Atom] | Atoms, binding: Binding) -> bool:
        match formula:
            case []:
                return True
            case ["and", *parts]:
                return all(self._holds(part, true, binding) for part in parts)
            case ["or", *parts]:
                return any(self._holds(part, true, binding) for part in parts)
            case ["not", part]:
                return not self._holds(part, true, binding)
            case ["imply", premise, conclusion]:
                return self._holds(conclusion, true, binding) if self._holds(premise, true, binding) else True
            case ["exists", variables, part]:
                return any(self._holds(part, true, binding | bound) for bound in self._bindings(variables))
            case ["forall", variables, part]:
                return all(self._holds(part, true, binding | bound) for bound in self._bindings(variables))
            case ["=", left, right]:
                return binding.get(left, left) == binding.get(right, right)
        return _ground(formula, binding) in true

    def _changes(self, effect: Formula, true: Atoms, binding: Binding) -> Iterator[tuple[Atom, bool]]:
        """The atoms that an effect adds (true) and deletes (false)."""
        match effect:
            case [] | ["increase", *_]:
                pass
            case ["and", *parts]:
                for part in parts:
                    yield from self._changes(part, true, binding)
            case ["forall", variables, part]:
                for bound in self._bindings(variables):
                    yield from self._changes(part, true, binding | bound)
            case ["when", condition, part]:
                if self._holds(condition, true, binding):
                    yield from self._changes(part, true, binding)
            case ["not", atom]:
                yield _ground(atom, binding), False
            case atom:
                yield _ground(atom, binding), True

    def _layers(self) -> list[list[tuple[str, list[tuple[str, set[str]]], Formula]]]:
        """The axioms in an order in which negated predicates are complete before they are used."""
        level = {name: 0 for name, _, _ in self.axioms}
        for _ in range(len(level) + 1):
            for name, _, body in self.axioms:
                for other, is_positive in _occurrences(body, True):
                    if other in level:
                        level[name] = max(level[name], level[other] + (not is_positive))
        if any(number > len(level) for number in level.values()):
            raise ValueError("a derived predicate depends on its own negation")
        return [[axiom for axiom in self.axioms if level[axiom[0]] == number] for number in sorted(set(level.values()))]


def _read_variables(formula: Formula) -> Formula:
    """The formula with the typed lists of its quantifiers read."""
    match formula:
        case ["exists" | "forall" as kind, variables, part]:
            return [kind, typed(variables), _read_variables(part)]
        case ["and" | "or" | "not" | "imply" | "when" as kind, *parts]:
            return [kind, *map(_read_variables, parts)]
    return formula


def _occurrences(formula: Formula, is_positive: bool) -> Iterator[tuple[str, bool]]:
    """The predicates of a formula, each with whether it occurs under an even number of negations."""
    match formula:
        case ["and" | "or", *parts]:
            for part in parts:
                yield from _occurrences(part, is_positive)
        case ["not", part]:
            yield from _occurrences(part, not is_positive)
        case ["imply", premise, conclusion]:
            yield from _occurrences(premise, not is_positive)
            yield from _occurrences(conclusion, is_positive)
        case ["exists" | "forall", _, part]:
            yield from _occurrences(part, is_positive)
        case [name, *_]:
            yield name, is_positive


def _ground(atom: list[str], binding: Binding) -> Atom:
    return tuple(binding.get(word, word) for word in atom)


def _closed(kinds: set[str], parents: dict[str, set[str]]) -> set[str]:
    """The types and all above them."""
    found, pending = set(), list(kinds)
    while pending:
        kind = pending.pop()
        if kind not in found:
            found.add(kind)
            pending += parents.get(kind, ())
    return found


def _all(definition: list[Any], head: str) -> list[list[Any]]:
    return [part for part in definition if isinstance(part, list) and part[:1] == [head]]


def _section(definition: list[Any], head: str) -> list[Any]:
    return [entry for part in _all(definition, head) for entry in part[1:]]
