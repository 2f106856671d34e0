"""Which problems of Unified Planning the engines take, and who made them."""

from __future__ import annotations

from typing import Any

from unified_planning.engines import Credits
from unified_planning.model import ProblemKind

from trifold import __version__

FEATURES = (
    "ACTION_BASED",
    *("FLAT_TYPING", "HIERARCHICAL_TYPING"),
    *("NEGATIVE_CONDITIONS", "DISJUNCTIVE_CONDITIONS", "EQUALITIES", "EXISTENTIAL_CONDITIONS", "UNIVERSAL_CONDITIONS"),
    *("CONDITIONAL_EFFECTS", "FORALL_EFFECTS"),
    *("STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS", "FLUENTS_IN_BOOLEAN_ASSIGNMENTS"),
    # Costs are read and ignored, which a warning in the result says: plans are counted in steps.
    *("PLAN_LENGTH", "ACTIONS_COST", "STATIC_FLUENTS_IN_ACTIONS_COST"),
    *("INT_NUMBERS_IN_ACTIONS_COST", "REAL_NUMBERS_IN_ACTIONS_COST"),
)
"""What problems may have. For a model, and for the selector of actions, goals must come to conjunctions of literals,
which cannot be said here: others are refused when they are read, as UNSUPPORTED_PROBLEM."""

CREDITS = Credits(
    name=f"Trifold {__version__}",
    author="the authors of Trifold",
    contact="the issues of Trifold's repository",
    website="",
    license="GPL-3.0-or-later",
    short_description="Learned general policies for classical planning, and search by them or by goal counting.",
    long_description="Learned general policies for classical planning (R-GNN[t]), and search by what they say of "
    "states and actions; without a model, search by goal counting.",
)


class Readable:
    """What all engines say of the problems that they take, and of who made them; it comes before `Engine`."""

    @staticmethod
    def supported_kind() -> ProblemKind:
        """The problems that can be read; for a model goals must come to conjunctions of literals, too."""
        return ProblemKind(FEATURES, version=2)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether problems of a kind can be read."""
        return bool(problem_kind <= Readable.supported_kind())

    @staticmethod
    def get_credits(**kwargs: Any) -> Credits:
        """Who made the engine."""
        return CREDITS
