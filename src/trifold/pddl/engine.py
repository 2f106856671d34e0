"""The edge to pymimir: texts in, its problem out, its errors as ours, and nothing of it alive at exit."""

from __future__ import annotations

import atexit
import re
import sys
import traceback
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from trifold.errors import TrifoldError

if TYPE_CHECKING:
    from trifold.pddl.description import Literal


class Releasable(Protocol):
    """Something that holds pymimir objects and can let them go."""

    def release(self) -> None:
        """Let go of the engine's objects."""


_holders: weakref.WeakSet[Any] = weakref.WeakSet()


def release_at_exit(holder: Releasable) -> None:
    """Let go of the holder's pymimir objects at exit: pymimir prints a page of warnings for each one left alive."""
    _holders.add(holder)


@atexit.register
def release_all() -> None:
    """Release every holder, and the frames of an exception that ended the program, for they hold objects too."""
    if isinstance(error := getattr(sys, "last_value", None), BaseException):
        traceback.clear_frames(error.__traceback__)
    for holder in list(_holders):
        holder.release()


class Engine:
    """pymimir's objects for one problem, held in one place."""

    def __init__(self, context: Any) -> None:
        from pymimir.advanced.search import ProblemGoalStrategy

        self.context = context
        self.problem = context.get_problem()
        self.repository = context.get_state_repository()
        self.generator = context.get_applicable_action_generator()
        self.goal = ProblemGoalStrategy.create(self.problem)

    def create_state(self, atoms: Iterable[Literal]) -> Any:
        """The state of these atoms; those of static and derived predicates are not asked for."""
        atoms = self.ground_atoms((atom.predicate, atom.arguments) for atom in atoms)
        return self.repository.get_or_create_state(atoms, [])[0]

    def ground_atoms(self, facts: Iterable[tuple[str, tuple[str, ...]]]) -> list[Any]:
        """pymimir's atoms of these predicates and objects; those of static and derived predicates are left out."""
        predicates = {each.get_name(): each for each in self.problem.get_domain().get_fluent_predicates()}
        objects = {each.get_name(): each for each in self.problem.get_problem_and_domain_objects()}
        return [
            self.problem.get_or_create_ground_atom(predicates[name], [objects[each] for each in arguments])
            for name, arguments in facts
            if name in predicates
        ]


def create_context(domain: str, problem: str) -> Any:
    """pymimir's search context of a problem, from texts that ``rewriting`` has written."""
    from pymimir.advanced.formalism import Parser, ParserOptions
    from pymimir.advanced.search import (
        LiftedKPKCOptions,
        LiftedOptions,
        SearchContext,
        SearchContextOptions,
        SymmetryPruning,
    )

    options = ParserOptions()
    try:
        parsed = Parser(domain, "", options).parse_problem(problem, "", options)
        # Symmetry pruning stays off: it ends the process on processors without AVX-512.
        lifted = LiftedOptions(LiftedKPKCOptions(SymmetryPruning.OFF))
        return SearchContext.create(parsed, SearchContextOptions(lifted))
    except (RuntimeError, IndexError, ValueError) as error:
        raise translate(error) from None


def translate(error: Exception) -> TrifoldError:
    """pymimir's error as ours, without the place in a text that the user did not write."""
    text = " ".join(str(error).split())
    what = re.search(r"Error! (.*?) here:", text) or re.match(r"(.{1,200}?)(\.? In line \d+|$)", text)
    message = what[1].strip() if what and "boost" not in what[1] else "it gives no reason"
    return TrifoldError(
        f"pymimir cannot take this problem: {message}",
        remedy="this is an error of Trifold, which wrote the text: please report it with both files",
    )
