"""The edge to pymimir: texts in, its problem out, its errors as ours, and nothing of it alive at exit."""

from __future__ import annotations

import atexit
import re
import sys
import traceback
import weakref
from typing import Any, Protocol

from trifold.errors import TrifoldError
from trifold.pddl.text import Source, normalise

REQUIREMENT = re.compile(r"Undefined requirement: (:[\w-]+)")


class Releasable(Protocol):
    """Something that holds pymimir objects and can let them go."""

    def release(self) -> None: ...


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


def create_context(domain: Source, problem: Source | None) -> Any:
    """pymimir's search context of a problem, or None if only the domain is to be checked.

    A requirement that the texts use but do not declare is declared for them.
    """
    from pymimir.advanced.formalism import Parser, ParserOptions
    from pymimir.advanced.search import (
        LiftedKPKCOptions,
        LiftedOptions,
        SearchContext,
        SearchContextOptions,
        SymmetryPruning,
    )

    text, added, options = normalise(domain.text), set[str](), ParserOptions()
    while True:
        source = domain
        try:
            parser = Parser(text, "", options)
            if problem is None:
                return None
            source = problem
            parsed = parser.parse_problem(normalise(problem.text), "", options)
            # Symmetry pruning stays off: it ends the process on processors without AVX-512.
            lifted = LiftedOptions(LiftedKPKCOptions(SymmetryPruning.OFF))
            return SearchContext.create(parsed, SearchContextOptions(lifted))
        except (RuntimeError, IndexError, ValueError) as error:
            missing = REQUIREMENT.match(str(error))
            if missing is None or missing[1] in added:
                raise translate(error, source) from None
            added.add(missing[1])
            text = add_requirement(text, missing[1])


def add_requirement(text: str, requirement: str) -> str:
    """Declare a requirement in a normalised domain text, on a line that is already there.

    >>> add_requirement("(define (domain d) (:predicates (p)))", ":typing")
    '(define (domain d)(:requirements :typing) (:predicates (p)))'
    """
    declared, count = re.subn(r"\(\s*:requirements\b", rf"(:requirements {requirement}", text, count=1)
    if count:
        return declared
    return re.sub(r"(\(\s*domain\s+[^\s()]+\s*\))", rf"\1(:requirements {requirement})", text, count=1)


def translate(error: Exception, source: Source) -> TrifoldError:
    """pymimir's error as ours: what is wrong, the line, and the words it points at."""
    text = str(error)
    what = re.search(r"Error! (.*?) here:", text) or re.match(r"([^\n]+)", text)
    message = what[1].strip().rstrip(".") if what else "it cannot be read"
    line = re.search(r"In line (\d+):", text)
    marked = re.search(r"\n([^\n]*)\n( *)(~+) <<-- Here", text)
    excerpt = marked[1][len(marked[2]) :][: len(marked[3])] if marked else None
    return TrifoldError(
        f"PDDL error: {message}",
        place=source.place(int(line[1]), excerpt) if line else source.name,
        remedy="mend the PDDL there; declarations come in the order of the PDDL standard",
    )
