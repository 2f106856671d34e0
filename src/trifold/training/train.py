"""Training from a folder of PDDL files to a run folder with a model, and resuming it: prepare, train, choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from trifold.data import read_folder
from trifold.errors import TrifoldError
from trifold.model import Model, choose_device
from trifold.processes import Workers
from trifold.training.advice import Advice, Evidence, advise, is_wanting
from trifold.training.assist import lead
from trifold.training.choose import best_seed, keep_best
from trifold.training.config import MAX_THREADS, check_config, describe_run
from trifold.training.coverage import Coverage, follow
from trifold.training.parallel import Parted, Ranks
from trifold.training.plot import plot_curves
from trifold.training.prepare import Prepared, prepare
from trifold.training.recipe import Recipe, Value, default_recipe, read_recipe
from trifold.training.run import RunFolder
from trifold.training.settings import Settings
from trifold.training.situations import find_situation
from trifold.training.together import Ending, at_once, train_seeds
from trifold.training.watcher import Watcher


@dataclass(frozen=True)
class TrainingResult:
    """Where the model is, and how it did.

    validation_loss  on states of held-out problems
    coverage         of its policy on held-out problems whose space is labelled whole; None where there are none
    larger           of its policy on the smallest of the problems that could not be labelled whole; None without any
    advice           what to do next
    """

    run: Path
    model_path: Path
    validation_loss: float
    seed: int
    steps: int
    seconds: float
    coverage: Coverage | None = None
    larger: Coverage | None = None
    advice: Sequence[Advice] = ()

    def load(self) -> Model:
        """The model."""
        return Model.load(self.model_path)


def train(
    directory: Path | str,
    run: Path | str,
    recipe: Recipe | Path | str | None = None,
    *,
    device: str = "auto",
    workers: Workers | None = None,
    cache: Path | None = None,
    watcher: Watcher | None = None,
    try_larger: bool = True,
    teacher: Path | str | None = None,
    practice: Path | str | None = None,
    **changes: Value,
) -> TrainingResult:
    """Learn a value function from the problems of a folder.

    directory   has domain.pddl and problems in train/ and validation/, in train/, or beside it
    run         the folder to make for the run
    recipe      the name of a shipped one, such as "paper", "fast", "small" or that of a shipped model, a TOML file or a
                ``Recipe``; None is "fast" on a GPU, and else "laptop", which ends in about twenty minutes
    try_larger  whether the policy is tried on problems that could not be labelled, while it is trained and in the end
    teacher     a model, by name or file, that says what is good in the states that the policy visits: see ``lessons``
    practice    the folder of problems on which it visits them, of any size; None is those that it is trained on
    changes     values that differ from the recipe's, such as steps=500 or t=2

    >>> result = train("gripper", "runs/first", recipe="small", steps=2)  # gripper/domain.pddl, …
    >>> result.steps, result.load().name
    (2, 'R-GNN[1]')
    """
    told = watcher or Watcher()
    folder = RunFolder(Path(run))

    def start(ranks: Ranks) -> TrainingResult:
        chosen = read_recipe(recipe or default_recipe(choose_device(device)), changes)
        read_folder(Path(directory))
        if recipe is None:
            told.chose(chosen.name, chosen.settings.minutes)
        content = describe_run(Path(directory), chosen, choose_device(device), teacher, practice)
        with folder.locked():
            folder.refuse_if_begun()
            return _run(folder, content, workers, cache, told, try_larger, ranks)

    return lead(start, workers, cache)


def resume(
    run: Path | str,
    *,
    steps: int | None = None,
    minutes: float | None = None,
    device: str | None = None,
    workers: Workers | None = None,
    cache: Path | None = None,
    watcher: Watcher | None = None,
    try_larger: bool = True,
) -> TrainingResult:
    """Go on with a run from its last save, to the end that was asked for or to another one.

    With the same number of steps it ends exactly where an unbroken run would have ended, on a CPU bit for bit.
    """
    folder = RunFolder(Path(run))
    changes: dict[str, Any] = {"steps": steps, "minutes": minutes}

    def go_on(ranks: Ranks) -> TrainingResult:
        content = _read_config(folder, {name: value for name, value in changes.items() if value is not None})
        content["device"] = choose_device(device or content["device"])
        if folder.model.exists():
            folder.training()  # which is read when all is done: better to know now that it cannot be
        # Sums are added in an order that depends on it. Several processes share the cores of a machine.
        most = MAX_THREADS if ranks.is_alone else torch.get_num_threads()
        torch.set_num_threads(min(content["threads"], most))
        with folder.locked():
            return _run(folder, content, workers, cache, watcher or Watcher(), try_larger, ranks)

    return lead(go_on, workers, cache)


def _read_config(folder: RunFolder, changes: dict[str, Any]) -> dict[str, Any]:
    """The config of a run, with another end if there are changes."""
    with folder.opened("config.json") as content:
        if "rungs" in content:
            raise TrifoldError(
                "this is the folder of a ladder, whose rungs are trainings",
                place=str(folder.path),
                remedy=f"trifold train --resume {folder.path}, or trifold.resume_climb in Python",
            )
        check_config(content)
        settings = Settings.from_json(content["settings"])
    content["settings"] = replace(settings, **changes).to_json()
    return content


def _run(
    folder: RunFolder,
    content: dict[str, Any],
    workers: Workers | None,
    cache: Path | None,
    watcher: Watcher,
    try_larger: bool,
    ranks: Ranks,
) -> TrainingResult:
    """Prepare the data, train every seed from where its folder stands, choose the best of them, and see what it does.

    Where an interrupt ends it, the best so far becomes the run's model.
    """
    prepared = prepare(folder, content, workers, cache, watcher, ranks)
    if not try_larger:
        prepared = replace(prepared, larger=None)
    endings: dict[int, Ending] = {}
    try:
        _train_all(prepared, endings, watcher)
    except (KeyboardInterrupt, Parted):
        _keep(prepared, endings)
        raise
    best_seed(endings, prepared.settings.keep_by)  # raises if all have failed
    seconds = sum(ending.state.seconds for ending in endings.values())
    larger = None
    if prepared.larger:
        watcher.trying(len(prepared.larger.problems))
        larger = prepared.larger.attempt(folder.model, seconds, watcher.tried)
    kept = Model.load(folder.model, content["device"])  # another than the best seed's, if it was selected
    coverage = follow(kept, prepared.tracks) if prepared.tracks else None
    wanting = is_wanting(coverage, larger)
    situation = find_situation(kept, prepared.training, prepared.held_out()) if wanting else None
    chosen, best = kept.provenance["settings"]["seed"], kept.provenance["selected"]["validation_loss"]
    steps, settings = endings[chosen].state.step, prepared.settings
    advice = advise(
        Evidence(
            str(folder.path),
            content["directory"],
            folder.seed(chosen).metrics(),
            prepared.config.heads,
            settings.steps,
            settings.minutes,
            coverage,
            larger,
            situation,
        )
    )
    return TrainingResult(folder.path, folder.model, best, chosen, steps, seconds, coverage, larger, advice)


def _train_all(prepared: Prepared, endings: dict[int, Ending], watcher: Watcher) -> None:
    """Train every seed, and keep the best and draw the curves whenever some have ended."""
    starts = [partial(prepared.start, seed) for seed in prepared.seeds]
    is_resident = prepared.training.encoder is None  # else each is to have the room that there is for its stretches
    most = at_once(prepared.backend.captured and is_resident and prepared.ranks.is_alone)
    for ended in train_seeds(starts, watcher.progress, most, prepared.training.targets.device):
        new = dict(zip(prepared.seeds[len(endings) :], ended, strict=False))
        endings |= new
        for seed, ending in new.items():
            if ending.error and len(prepared.seeds) > 1:
                watcher.failed(seed, ending.error)
        _keep(prepared, endings)


def _keep(prepared: Prepared, endings: dict[int, Ending]) -> None:
    """Make the best so far the run's model, and draw the curves so far, if there is any."""
    folder, seeds = prepared.folder, prepared.seeds
    if keep_best(folder, endings, seeds, prepared.settings.keep_by):
        plots = [folder.seed(seed) for seed in seeds if folder.seed(seed).best.exists()]
        plot_curves(plots, f"{prepared.config.label} on {prepared.domain}", folder.path / "curves.png")
