"""Climbing the ladder, and going on with a climb: what is asked for becomes the config.json of a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from trifold.data import read_folder
from trifold.errors import TrifoldError
from trifold.ladder.ascent import Ascent, Survey
from trifold.ladder.result import Climbed
from trifold.ladder.rungs import CHOSEN, RUNGS, Rung
from trifold.ladder.watcher import ClimbWatcher
from trifold.model import choose_device
from trifold.processes import Workers
from trifold.sealed import Damaged, fill
from trifold.training import (
    Recipe,
    RunFolder,
    Value,
    check_config,
    default_recipe,
    describe_run,
    find_key,
    lead,
    read_recipe,
    recorded_recipe,
)

RUNGS_KEY = "rungs"
"""What the config.json of a climb has, and no other."""

HEADS = "both"
"""Of each rung, unless another is asked for: a policy by scores of actions looks at one state a step."""


def climb(
    directory: Path | str,
    run: Path | str,
    recipe: Recipe | Path | str | None = None,
    *,
    judge: Path | str | None = None,
    every: bool = False,
    rungs: Sequence[Rung] = RUNGS,
    device: str = "auto",
    workers: Workers | None = None,
    cache: Path | None = None,
    watcher: ClimbWatcher | None = None,
    **changes: Value,
) -> Climbed:
    """Learn a policy by the cheapest architecture that is as good as the best.

    directory, recipe  as for ``training.train``; the recipe's minutes are those of all rungs together
    run                the folder to make, with a run folder for each rung in it
    judge              a folder of larger problems to judge rungs on; by default those of the recipe's selection, or
                       else those of the directory that could not be labelled whole
    every              whether rungs are trained, too, that are dearer than one that solves all with near-optimal plans
    rungs              the architectures, from the cheapest on
    changes            values that differ from the recipe's, but for encoder, t, dim and layers; heads are "both" if
                       they are not among them

    >>> found = climb("gripper", "runs/climb", "small", rungs=RUNGS[:2], steps=2)  # gripper/domain.pddl, …
    >>> found.kept in {"plain-32-16", "plain-32-30"}, found.fell_back
    (True, True)
    """
    told = watcher or ClimbWatcher()
    given = {find_key(key)[1] for key in changes}
    if fixed := sorted(given & set(CHOSEN)):
        raise TrifoldError(
            f"the ladder chooses the architecture, and {', '.join(fixed)} {'is' if len(fixed) == 1 else 'are'} given",
            remedy="leave out one of the two",
        )
    _check_rungs(rungs)
    changes = changes if "heads" in given else {"heads": HEADS} | changes
    folder, place = RunFolder(Path(run)), Path(judge) if judge is not None else None

    def begin(ranks: object) -> Climbed:
        chosen = read_recipe(recipe or default_recipe(choose_device(device)), changes)
        read_folder(Path(directory))
        told.climbing(chosen.name, chosen.settings.minutes)
        content = describe_run(Path(directory), chosen, choose_device(device))
        content |= {RUNGS_KEY: [asdict(rung) for rung in rungs], "every": every}
        with folder.locked():
            folder.refuse_if_begun()
            ascent = _ascent(folder, content, {}, workers, cache, told)
            survey = ascent.survey(place)
            survey.write(folder)
            folder.write("config.json", content)
            return ascent.climb(survey, is_labelled=True)

    return lead(begin, workers, cache)


def resume_climb(
    run: Path | str,
    *,
    judge: Path | str | None = None,
    every: bool = False,
    steps: int | None = None,
    minutes: float | None = None,
    device: str | None = None,
    workers: Workers | None = None,
    cache: Path | None = None,
    watcher: ClimbWatcher | None = None,
) -> Climbed:
    """Go on with a climb from the last save of its last rung, to the end that was asked for or to another one.

    judge           other problems to judge by: what is trained is judged anew
    every           whether the rungs are trained, too, that the climb has left out as needless
    steps, minutes  another end, also of the rungs that have come to theirs
    """
    folder = RunFolder(Path(run))
    asked: dict[str, Any] = {"steps": steps, "minutes": minutes}
    longer = {name: value for name, value in asked.items() if value is not None}

    def go_on(ranks: object) -> Climbed:
        with folder.opened("config.json") as content:
            _check(content)
        content["settings"] = replace(recorded_recipe(content).settings, **longer).to_json()
        content["device"] = choose_device(device or content["device"])
        content["every"] = every or content["every"]
        survey = Survey.read(folder)
        torch.set_num_threads(content["threads"])  # sums are added in an order that depends on it
        with folder.locked():
            ascent = _ascent(folder, content, longer, workers, cache, watcher or ClimbWatcher())
            if judge is not None:
                survey = ascent.survey(Path(judge))
                survey.write(folder)
            folder.write("config.json", content)
            return ascent.climb(survey, is_labelled=judge is not None)

    return lead(go_on, workers, cache)


def is_climb(run: Path) -> bool:
    """Whether a folder is that of a climb, and not of one training."""
    if not (run / "config.json").exists():
        return False
    with RunFolder(run).opened("config.json") as content:
        return RUNGS_KEY in content


def _check(content: dict[str, Any]) -> None:
    """Raise unless all that a climb reads from its config.json is there, and of its type."""
    if RUNGS_KEY not in content:
        raise Damaged("it is that of one training")
    check_config(content)
    _check_rungs(_read_rungs(content))
    if type(content["every"]) is not bool:
        raise Damaged("its every is neither true nor false")


def _read_rungs(content: dict[str, Any]) -> list[Rung]:
    return [fill(Rung, values) for values in content[RUNGS_KEY]]


def _check_rungs(rungs: Sequence[Rung]) -> None:
    """Raise unless these are rungs: each has a folder of its own, and an architecture."""
    names = [rung.name for rung in rungs]
    if not rungs or len(set(names)) < len(names) or not all(re.fullmatch(r"\w[\w.-]*", name) for name in names):
        raise TrifoldError(f"rungs have different names, which folders can have, not {', '.join(names) or 'none'}")
    for rung in rungs:
        _ = rung.label  # or it raises


def _ascent(
    folder: RunFolder,
    content: dict[str, Any],
    longer: dict[str, Any],
    workers: Workers | None,
    cache: Path | None,
    watcher: ClimbWatcher,
) -> Ascent:
    return Ascent(
        folder,
        Path(content["directory"]),
        recorded_recipe(content),
        _read_rungs(content),
        content["every"],
        content["device"],
        longer,
        workers,
        cache,
        watcher,
    )
