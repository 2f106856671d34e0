"""The plans of attempts as files: that for p1.pddl is p1.plan, in one folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.files import make_folder
from trifold.planning import write_plan


def plan_folder(plans: Path | str | None, problems: Sequence[Path | str]) -> Path | None:
    """The folder of plans, made, if any are wanted and no two of them would be one file."""
    if plans is None:
        return None
    folder, files = Path(plans), dict.fromkeys(map(Path, problems))
    twice = [name for name, count in Counter(plan_file(folder, file.name) for file in files).items() if count > 1]
    if twice:
        raise TrifoldError(
            f"two problems would write {twice[0].name}", place=str(plans), remedy="take their folders one by one"
        )
    make_folder(folder)
    return folder


def plan_file(folder: Path, problem: str) -> Path:
    """Where the plan for a problem is written, by the name of its file."""
    return folder / f"{Path(problem).stem}.plan"


def keep_plan(folder: Path | None, problem: str, plan: Sequence[str] | None) -> None:
    """Write a plan, if there is one and it is wanted: before the record, which says that all is done."""
    if folder is not None and plan is not None:
        write_plan(plan_file(folder, problem), plan)


def with_plans(
    settles: Callable[[Any, dict[str, Any]], bool], folder: Path | None, length: str = "plan_length"
) -> Callable[[Any, dict[str, Any]], bool]:
    """What settles an attempt, but for those records whose plan is wanted in the folder, and not there."""

    def settled(record: Any, asked: dict[str, Any]) -> bool:
        if folder is not None and record[length] is not None and not plan_file(folder, record["problem"]).exists():
            return False
        return settles(record, asked)

    return settled
