"""Planning problems: their states, successors and goals, and states as structures over objects."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trifold.errors import TrifoldError
from trifold.expressions import Source, open_source, parse
from trifold.pddl.actions import ActionTable, GroundName, parse_action
from trifold.pddl.atom_index import AtomIndex
from trifold.pddl.atoms import AtomRows, Integers
from trifold.pddl.description import DomainDescription, check_atom, describe_domain
from trifold.pddl.engine import Engine, create_context, release_at_exit
from trifold.pddl.executor import Executor
from trifold.pddl.problem_description import ProblemDescription, describe_problem
from trifold.pddl.rewriting import write_domain, write_problem
from trifold.words import counted

if TYPE_CHECKING:
    from trifold.structures import Signature, Structures


class Domain:
    """A PDDL domain: the relations that states of its problems can have.

    name       its name, in lower case
    text       the PDDL text as given
    relations  (name, arity) of each relation, sorted by name
    schemas    (name, arity) of each action schema, sorted by name
    rewritten  the domain in the form that pymimir translates rightly
    """

    def __init__(self, source: Source, description: DomainDescription) -> None:
        self.source, self.description = source, description
        self.name, self.text = description.name, source.text
        self.relations = description.relations
        self.schemas = tuple(sorted((action.name, len(action.parameters)) for action in description.actions))
        self.rewritten = write_domain(description)

    @cached_property
    def signature(self) -> Signature:
        """The relations of every state: predicates, types, ``@constant-c`` of each constant c that actions or rules
        name, and ``p@goal`` and ``p@goal-not`` of each predicate p."""
        from trifold.structures import Signature

        return Signature.of(self.relations)

    def __repr__(self) -> str:
        return f"Domain({self.name})"


class State:
    """A state of a problem. Equal states of one problem are one object, so ``==`` and ``hash`` cost nothing."""

    __slots__ = ("__weakref__", "handle", "problem")

    def __init__(self, problem: Problem, handle: Any) -> None:
        self.problem, self.handle = problem, handle

    def __repr__(self) -> str:
        return f"State({' '.join(self.problem.atoms(self))})"


class Problem:
    """A PDDL problem.

    domain         its domain
    name, text     its name in lower case, and the PDDL text as given
    objects        names of its objects, domain constants first, in the order of their declaration
    initial_state  where a plan starts
    goal           the goal's literals, such as ``(on a b)`` or ``(not (dirty l))``
    notes          what a user should know about how the problem is read
    """

    def __init__(self, domain: Domain, source: Source, description: ProblemDescription) -> None:
        self.domain, self.name, self.text = domain, description.name, source.text
        self.objects = tuple(description.objects)
        self.goal = tuple(map(str, description.goal))
        self.notes = description.notes
        self._states: weakref.WeakValueDictionary[int, State] = weakref.WeakValueDictionary()
        self._action_texts: dict[int, str] = {}
        self._action_rows: dict[str, list[int]] = {}
        self.description = description
        self.engine = Engine(create_context(domain.rewritten, write_problem(domain.description, description)))
        release_at_exit(self)
        self.atom_index = AtomIndex(domain.description, description, self.engine)
        self.initial_state = self.state_of(self.engine.repository.get_or_create_initial_state()[0])

    @cached_property
    def executor(self) -> Executor:
        """The problem once more, without pymimir: the judge of plans."""
        return Executor(self.domain.description, self.description)

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds in the state."""
        goal = self.engine.goal
        return bool(goal.test_static_goal() and goal.test_dynamic_goal(state.handle))

    def count_unmet(self, states: Sequence[State]) -> Integers:
        """How many literals of the goal do not hold in each of the states, (states,): 0 in a goal alone."""
        return self.atom_index.count_unmet([state.handle for state in states])

    def successors(self, state: State) -> list[tuple[str, State]]:
        """Each applicable action, such as ``(pick-up a)``, and the state it leads to, sorted by the action's text."""
        create = self.engine.repository.get_or_create_successor_state
        found = {}
        for action in self.engine.generator.generate_applicable_actions(state.handle):
            # An action with a disjunctive condition is several to pymimir, with one text and one successor.
            text = self.action_text(action)
            if text not in found:
                found[text] = self.state_of(create(state.handle, action, 0.0)[0])
        return sorted(found.items(), key=lambda pair: pair[0])

    def structures(self, states: Sequence[State]) -> Structures:
        """One structure over the objects per state, over ``domain.signature``, atoms sorted."""
        offsets, indices = self.atom_index.gather([state.handle for state in states])
        return self.atom_index.table.structures(offsets, indices)

    def atom_rows(self, states: Sequence[State]) -> AtomRows:
        """The atoms of states as arrays: what ``structures`` is made of, without torch."""
        offsets, indices = self.atom_index.gather([state.handle for state in states])
        return AtomRows(self.atom_index.static_rows, self.atom_index.rows, offsets, indices)

    def sort_actions(self, names: Iterable[GroundName]) -> list[GroundName]:
        """Ground actions in the order of schemas, then of objects."""
        schema_of = {name: index for index, (name, _) in enumerate(self.domain.schemas)}
        object_of = self.atom_index.object_of
        return sorted(names, key=lambda action: (schema_of[action[0]], [object_of[name] for name in action[1]]))

    def action_table(self, actions: Sequence[str]) -> ActionTable:
        """Actions, such as ``(pick-up a)``, as arrays, in their order."""
        rows = self.action_rows(actions)
        return ActionTable(self.domain.schemas, rows[:, 0], rows[:, 1:])

    def action_rows(self, actions: Sequence[str]) -> Integers:
        """(A, 1 + m) the schema of each action, and its objects, as in ``ActionTable``."""
        known = self._action_rows
        if new := [action for action in actions if action not in known]:
            table = ActionTable.of(self.domain.schemas, self.objects, map(parse_action, new))
            known.update(zip(new, np.column_stack([table.schema, table.arguments]).tolist(), strict=True))
        width = 1 + max((arity for _, arity in self.domain.schemas), default=0)
        return np.array([known[action] for action in actions], np.int32).reshape(-1, width)

    def atoms(self, state: State) -> list[str]:
        """The true atoms as text, sorted: fluent, derived and static ones, without types."""
        _, indices = self.atom_index.gather([state.handle])
        return sorted(map(str, chain(self.atom_index.static, (self.atom_index.literals[index] for index in indices))))

    def state(self, atoms: Iterable[str]) -> State:
        """The state in which these atoms hold, given as ``atoms`` gives them, such as ``(on a b)``, and no others.

        Static atoms may be left out, for they hold in every state, and derived ones, which follow from the others. What
        is no atom of the problem is refused, and so are atoms of these two kinds that do not hold.

        >>> problem = load_problem(load_domain("gripper/domain.pddl"), "problem.pddl")
        >>> state = problem.state(["(at-robby roomb)", "(at ball1 roomb)", "(at ball2 roomb)", "(free left)"])
        >>> problem.is_goal(state), problem.state(problem.atoms(state)) is state
        (True, True)
        """
        source = Source("(define " + " ".join(atoms) + ")", "the atoms of a state")
        domain, objects = self.domain.description, self.description.objects
        given = {check_atom(entry, domain, objects, source) for entry in parse(*source).items[1:]}
        state = self.state_of(self.engine.create_state(sorted(given)))
        if false := sorted(set(map(str, given)) - set(self.atoms(state))):
            raise TrifoldError(
                f"{false[0]} does not hold where the other atoms do: no action changes it, or rules derive it",
                remedy="leave it out",
            )
        return state

    def release(self) -> None:
        """Let go of pymimir; the problem and its states cannot be used after that."""
        for state in list(self._states.values()):
            state.handle = None
        self.engine = self.atom_index = None  # type: ignore[assignment]

    def state_of(self, handle: Any) -> State:
        """The state that a handle of pymimir's stands for."""
        index = handle.get_index()
        state = self._states.get(index)
        if state is None:
            state = self._states[index] = State(self, handle)
        return state

    def action_text(self, action: Any) -> str:
        """What plans call a ground action of pymimir's."""
        index = action.get_index()
        text = self._action_texts.get(index)
        if text is None:
            # pymimir's plan form leaves out the parameters that it adds for quantified conditions.
            text = action.to_string_for_plan(self.engine.problem).replace(" )", ")")
            self._action_texts[index] = text
        return text

    def __repr__(self) -> str:
        return f"Problem({self.name} of {self.domain.name}, {counted(len(self.objects), 'object')})"


def load_domain(text_or_path: str | Path | Source) -> Domain:
    """Load a domain from a path, or from PDDL text (a string with a parenthesis).

    Its time is bounded by the length of the text, and pymimir does not see it before a problem is loaded.
    """
    source = open_source(text_or_path, "domain")
    return Domain(source, describe_domain(source))


def load_problem(domain: Domain, text_or_path: str | Path | Source) -> Problem:
    """Load a problem of the domain from a path, or from PDDL text (a string with a parenthesis).

    >>> problem = load_problem(load_domain("gripper/domain.pddl"), "problem.pddl")
    >>> problem.goal[0], problem.is_goal(problem.initial_state)
    ('(at ball1 roomb)', False)
    """
    source = open_source(text_or_path, "problem")
    return Problem(domain, source, describe_problem(source, domain.description))


def read_problem(domain: Domain, text_or_path: str | Path | Source) -> ProblemDescription:
    """A problem's declarations alone: pymimir does not see it, and the time is bounded by the length of the text.

    >>> sorted(read_problem(load_domain("gripper/domain.pddl"), "problem.pddl").objects)
    ['ball1', 'ball2', 'left', 'right', 'rooma', 'roomb']
    """
    return describe_problem(open_source(text_or_path, "problem"), domain.description)
