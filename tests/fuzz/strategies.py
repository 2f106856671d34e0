"""Random small PDDL domains with a problem each, by families of features.

They are functions of a ``random.Random``: thousands are drawn from seeds, and ``domains`` hands them to hypothesis,
which then makes and shrinks every choice. The first option of a choice is the simplest one.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

FAMILIES: dict[str, frozenset[str]] = {
    "strips": frozenset(),
    "quantifiers": frozenset({"exists", "forall"}),
    "conditional": frozenset({"when", "universal", "exists", "forall"}),
    "or": frozenset({"or", "exists"}),
    "imply": frozenset({"imply", "forall"}),
    "either": frozenset({"either", "exists", "forall", "when", "universal"}),
    "derived": frozenset({"derived", "exists", "forall"}),
    "mixed": frozenset({"exists", "forall", "when", "universal", "or", "imply", "either", "derived"}),
}
"""Family → the features that its domains may use besides types, constants, negation and equality."""

MAX_ATOMS = 11
"""How many fluent ground atoms a problem may have: 2,048 states at most."""

DRAWS = 6
"""How often a domain is drawn anew if hardly any state can be reached in it."""

Types = tuple[str, ...]
Terms = dict[str, Types]
Predicates = dict[str, tuple[Types, ...]]
States = Sequence[Iterable[tuple[str, ...]]]
ANY: Types = ("object",)


@dataclass
class Vocabulary:
    """What formulas can speak of.

    parents    type → the type above it
    objects    every object's types; those in constants belong to the domain
    static, fluent, derived
               predicate → the types of each parameter
    """

    features: frozenset[str]
    parents: dict[str, str] = field(default_factory=dict)
    objects: Terms = field(default_factory=dict)
    constants: list[str] = field(default_factory=list)
    static: Predicates = field(default_factory=dict)
    fluent: Predicates = field(default_factory=dict)
    derived: Predicates = field(default_factory=dict)

    def above(self, name: str) -> set[str]:
        """The type and all above it."""
        found = {name, "object"}
        while name in self.parents:
            name = self.parents[name]
            found.add(name)
        return found

    def fits(self, given: Types, wanted: Types) -> bool:
        """Whether whatever is of one of the given types is of one of the wanted ones."""
        return all(self.above(kind) & set(wanted) for kind in given)

    def members(self, wanted: Types) -> list[str]:
        """The objects of one of the types; an object declared with ``either`` has all of its types."""
        return [name for name, given in self.objects.items() if any(self.above(kind) & set(wanted) for kind in given)]

    def ground(self, predicates: Predicates) -> list[str]:
        """Every well-typed ground atom of the predicates."""
        return [
            expression(name, *arguments)
            for name, parameters in predicates.items()
            for arguments in itertools.product(*map(self.members, parameters))
        ]

    def constant_terms(self) -> Terms:
        return {name: self.objects[name] for name in self.constants}


def expression(*words: str) -> str:
    return f"({' '.join(words)})"


def typed(terms: Terms) -> str:
    """Names with their types, as PDDL lists them."""
    if all(types == ANY for types in terms.values()):
        return " ".join(terms)
    kinds = {name: types[0] if len(types) == 1 else expression("either", *types) for name, types in terms.items()}
    return " ".join(f"{name} - {kind}" for name, kind in kinds.items())


def head(name: str, parameters: tuple[Types, ...]) -> str:
    """A predicate with its parameters, as it is declared."""
    return f"({f'{name} {typed(_variables(parameters))}'.strip()})"


def _variables(parameters: tuple[Types, ...]) -> Terms:
    return {f"?y{place}": types for place, types in enumerate(parameters)}


def vocabulary(rng: random.Random, features: frozenset[str]) -> Vocabulary:
    """Types, objects and predicates."""
    words = Vocabulary(features)
    for number in range(rng.choice([2, 3] if "either" in features else [0, 0, 1, 2, 3])):
        words.parents[f"t{number}"] = rng.choice(["object", "object", *words.parents])
    for number in range(rng.choice([2, 3, 3, 4])):
        words.objects[f"o{number}"] = some_types(rng, words)
    words.constants = list(words.objects)[: rng.choice([0, 0, 1, 2])]

    def parameters(arities: Sequence[int]) -> tuple[Types, ...]:
        return tuple(some_types(rng, words) for _ in range(rng.choice(arities)))

    room = MAX_ATOMS
    for number in range(rng.choice([2, 3, 4])):
        for kinds in (parameters([0, 1, 1, 1, 2, 2, 3]), parameters([1]), ()):
            if 0 < len(words.ground({"p": kinds})) <= room:
                words.fluent[f"p{number}"] = kinds
                room -= len(words.ground({"p": kinds}))
                break
    for number in range(rng.choice([0, 0, 1])):
        words.static[f"s{number}"] = parameters([1, 2, 2, 3])
    if "derived" in features:
        for number in range(rng.choice([1, 2])):
            words.derived[f"d{number}"] = parameters([0, 1, 1, 2])
    return words


def some_types(rng: random.Random, words: Vocabulary) -> Types:
    """The types of one object, parameter or variable."""
    if not words.parents:
        return ANY
    if "either" in words.features and rng.choice([False, True]):
        return tuple(rng.sample(list(words.parents), 2))
    return (rng.choice(["object", "object", *words.parents]),)


def variables(rng: random.Random, words: Vocabulary, letter: str, counts: Sequence[int]) -> Terms:
    """Variables with types; the numbers start at 0 or 1, so that a quantifier may hide what is around it."""
    first = rng.choice([0, 0, 1])
    return {f"?{letter}{first + number}": some_types(rng, words) for number in range(rng.choice(counts))}


def atom(rng: random.Random, words: Vocabulary, terms: Terms, predicates: Predicates) -> str | None:
    """A well-typed atom over the terms, or None if there is none of the predicates tried."""
    for name in rng.sample(list(predicates), len(predicates)):
        fitting = [[term for term, given in terms.items() if words.fits(given, wanted)] for wanted in predicates[name]]
        if all(fitting):
            return expression(name, *map(rng.choice, fitting))
    return None


def literal(rng: random.Random, words: Vocabulary, terms: Terms, below: tuple[int, int] = (9, 9)) -> str:
    """An atom, an equation, or the negation of one; below as for formulas."""
    is_positive = rng.choice([True, True, False])
    derived = dict(list(words.derived.items())[: below[0] if is_positive else below[1]])
    is_equation = len(terms) > 1 and rng.choice([False, False, False, False, False, True])
    found = None if is_equation else atom(rng, words, terms, words.fluent | words.static | derived)
    if found is None:
        found = expression("=", *rng.choices(list(terms), k=2)) if terms else "(and)"
    return found if is_positive else expression("not", found)


def formula(rng: random.Random, words: Vocabulary, terms: Terms, depth: int, below: tuple[int, int] = (9, 9)) -> str:
    """A formula over the terms, nested to the depth at most.

    Only the derived predicates with numbers less than the first of ``below`` may occur positively, and than the second
    negatively: that is what makes axioms stratified.
    """
    connectives = [kind for kind in ("or", "imply", "exists", "forall") if kind in words.features]
    kind = rng.choice(["literal", "literal", "and", "not", *connectives * 2]) if depth else "literal"
    opposite = (below[1], below[0])
    match kind:
        case "literal":
            return literal(rng, words, terms, below)
        case "and" | "or":
            counts = [2, 2, 2, 3, 1, 0] if kind == "and" else [2, 2, 2, 3, 1]
            parts = (formula(rng, words, terms, depth - 1, below) for _ in range(rng.choice(counts)))
            return expression(kind, *parts)
        case "not":
            return expression("not", formula(rng, words, terms, depth - 1, opposite))
        case "imply":
            premise = formula(rng, words, terms, depth - 1, opposite)
            return expression("imply", premise, formula(rng, words, terms, depth - 1, below))
    bound = variables(rng, words, rng.choice("vvvx"), [1, 1, 2])
    return expression(kind, f"({typed(bound)})", formula(rng, words, terms | bound, depth - 1, below))


def effect(rng: random.Random, words: Vocabulary, terms: Terms, depth: int) -> str:
    """One effect: a literal, a conditional or a universal one."""
    kinds = [kind for kind in ("when", "universal") if kind in words.features]
    kind = rng.choice(["literal", *kinds]) if depth else "literal"
    if kind == "when":
        return expression("when", formula(rng, words, terms, 2), effect(rng, words, terms, 0))
    if kind == "universal":
        bound = variables(rng, words, rng.choice("uuux"), [1])
        return expression("forall", f"({typed(bound)})", effect(rng, words, terms | bound, depth - 1))
    found = atom(rng, words, terms, words.fluent)
    if found is None:
        return "(and)"
    return found if rng.choice([True, True, False]) else expression("not", found)


def action(rng: random.Random, words: Vocabulary, name: str) -> str:
    """An action; its precondition may be empty or left out."""
    parameters = variables(rng, words, "x", [0, 1, 1, 2, 2, 3])
    terms = parameters | words.constant_terms()
    depth = 3 if words.features else 1
    parts = [formula(rng, words, terms, rng.randint(0, depth)) for _ in range(rng.choice([1, 1, 2, 2, 3, 0]))]
    said = [f" :precondition {expression('and', *parts)}"] * 2 + [f" :precondition {part}" for part in parts[:1]]
    condition = rng.choice(said if parts else [" :precondition (and)", " :precondition ()", ""])
    effects = [effect(rng, words, terms, 2) for _ in range(rng.choice([1, 2, 2, 3]))]
    return f"(:action {name} :parameters ({typed(parameters)}){condition} :effect {expression('and', *effects)})"


def axiom(rng: random.Random, words: Vocabulary, number: int) -> str:
    """An axiom of the derived predicate with the number, which may use itself positively."""
    name, parameters = list(words.derived.items())[number]
    terms = _variables(parameters) | words.constant_terms()
    return expression(":derived", head(name, parameters), formula(rng, words, terms, 3, (number + 1, number)))


def domain(rng: random.Random, words: Vocabulary) -> str:
    """The text of a domain."""
    sections = [f"(:requirements :adl{' :derived-predicates' if words.derived else ''})"]
    if words.parents:
        sections.append(f"(:types {' '.join(f'{name} - {parent}' for name, parent in words.parents.items())})")
    if words.constants:
        sections.append(f"(:constants {typed(words.constant_terms())})")
    predicates = words.static | words.fluent | words.derived
    sections.append(expression(":predicates", *(head(*entry) for entry in predicates.items())))
    for number in range(len(words.derived)):
        sections += [axiom(rng, words, number) for _ in range(rng.choice([1, 1, 2]))]
    sections += [action(rng, words, f"a{number}") for number in range(rng.choice([2, 3, 4]))]
    return "\n".join(["(define (domain d)", *sections]) + ")\n"


def problem(words: Vocabulary, initial: Sequence[str], goal: Sequence[str]) -> str:
    """The text of a problem."""
    objects = {name: types for name, types in words.objects.items() if name not in words.constants}
    return (
        f"(define (problem q) (:domain d)\n(:objects {typed(objects)})\n"
        f"(:init {' '.join(initial)})\n(:goal {expression('and', *goal)}))\n"
    )


def draw_domain(rng: random.Random, family: str, reach: Callable[[str, str], States] | None = None) -> tuple[str, str]:
    """A domain of the family and a problem of it, as texts.

    ``reach`` lists reachable states, nearest first, as their true atoms. With it most domains have a few states at
    least, and most goals hold in a state far away; without it many domains are dull.
    """
    for _ in range(DRAWS):
        words = vocabulary(rng, FAMILIES[family])
        text = domain(rng, words)
        initial = random_initial(rng, words)
        goal = random_goal(rng, words, initial)
        if reach is None or rng.choice([False, False, False, True]):
            break
        states = reach(text, problem(words, initial, goal))
        if len(states) > 3:
            goal = far_goal(rng, words, states)
            break
    return text, problem(words, initial, goal)


def random_initial(rng: random.Random, words: Vocabulary) -> list[str]:
    """Few fluent atoms, and any number of static ones."""
    fluent, static = words.ground(words.fluent), words.ground(words.static)
    initial = rng.sample(fluent, min(len(fluent), rng.choice([0, 1, 2, 3])))
    return initial + rng.sample(static, rng.randint(0, len(static)))


def random_goal(rng: random.Random, words: Vocabulary, initial: Sequence[str]) -> list[str]:
    """Literals, mostly such as do not hold in the beginning."""
    atoms = words.ground(words.fluent | words.derived) or ["(p0)"]
    return [
        item if rng.choice([True, True, False]) == (item not in initial) else expression("not", item)
        for item in rng.sample(atoms, min(len(atoms), rng.choice([1, 2, 2, 3])))
    ]


def far_goal(rng: random.Random, words: Vocabulary, states: States) -> list[str]:
    """Literals of one of the last states, mostly such as do not hold in the first one."""
    atoms = words.ground(words.fluent | words.derived)
    first = {expression(*item) for item in states[0]}
    last = {expression(*item) for item in states[rng.randint(len(states) * 3 // 4, len(states) - 1)]}
    changed = [item for item in atoms if (item in first) != (item in last)]
    kept = [item for item in atoms if item not in changed]
    chosen = rng.sample(changed, min(len(changed), rng.choice([2, 3, 4])))
    chosen += rng.sample(kept, min(len(kept), rng.choice([0, 0, 1]) if chosen else 1))
    return [item if item in last else expression("not", item) for item in chosen]


def domains(family: str) -> st.SearchStrategy[tuple[str, str]]:
    """Domains of the family, each with a problem of it."""
    return st.randoms(use_true_random=False).map(lambda rng: draw_domain(rng, family))


def formula_goals(family: str) -> st.SearchStrategy[tuple[str, str]]:
    """Domains of the family, each with a problem whose goal is any formula."""

    def draw(rng: random.Random) -> tuple[str, str]:
        words = vocabulary(rng, FAMILIES[family])
        text, initial = domain(rng, words), random_initial(rng, words)
        return text, problem(words, initial, [formula(rng, words, words.objects, 3)])

    return st.randoms(use_true_random=False).map(draw)
