"""The text of a PDDL problem."""

from __future__ import annotations

from collections.abc import Sequence


def problem_text(name: str, *, domain: str, objects: Sequence[str], init: Sequence[str], goal: Sequence[str]) -> str:
    """Write a problem whose goal is a conjunction of literals; each is given without its outer parentheses.

    >>> print(problem_text("p", domain="d", objects=["a", "b"], init=["clear a"], goal=["on a b"]), end="")
    (define (problem p)
      (:domain d)
      (:objects a b)
      (:init
        (clear a))
      (:goal (and
        (on a b))))
    """
    init_lines, goal_lines = ("".join(f"\n    ({atom})" for atom in atoms) for atoms in (init, goal))
    return (
        f"(define (problem {name})\n  (:domain {domain})\n  (:objects {' '.join(objects)})\n"
        f"  (:init{init_lines})\n  (:goal (and{goal_lines})))\n"
    )
