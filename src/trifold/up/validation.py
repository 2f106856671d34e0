"""A second opinion on plans, by the validator of Unified Planning: it shares no line with Trifold, nor with pymimir."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from unified_planning.engines import ValidationResultStatus
from unified_planning.engines.plan_validator import SequentialPlanValidator
from unified_planning.io import PDDLReader


@dataclass(frozen=True)
class Verdict:
    """What the validator says of a plan: valid, not valid, or None if it cannot say; and why."""

    is_valid: bool | None
    reason: str = ""


def validate(domain: str, problem: str, plan: Sequence[str]) -> Verdict:
    """Ask Unified Planning whether a plan solves a problem, both given as PDDL texts.

    It reads the texts by itself, and has no verdict on what it cannot read. Costs are left out, for they make no plan
    valid.
    """
    reader = PDDLReader()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = reader.parse_problem_string(domain, problem)
            read.clear_quality_metrics()
            result = SequentialPlanValidator().validate(read, reader.parse_plan_string(read, "\n".join(plan)))
    except MemoryError:
        raise
    except Exception as error:  # of whatever kind: its parser raises many, and AssertionError among them
        what = " ".join(str(error).split())[:200] or "it gives no reason"
        return Verdict(None, f"Unified Planning cannot read this: {type(error).__name__}: {what}")
    if result.status is ValidationResultStatus.VALID:
        return Verdict(True)
    reason = " ".join(message.message for message in result.log_messages or ()) or "it gives no reason"
    return Verdict(False, reason)
