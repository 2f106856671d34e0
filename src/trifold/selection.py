"""Of a run's models, the one whose policy solves most: loss on small problems alone does not decide coverage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifold.errors import TrifoldError
from trifold.limits import MAX_STEPS
from trifold.processes import Workers
from trifold.training import RunFolder, recorded_recipe

if TYPE_CHECKING:
    from trifold.evaluation import Record, Score
    from trifold.training import Selection


@dataclass(frozen=True)
class Candidates:
    """The models of a finished run, and the problems to select on.

    models    name of a seed, or of a rung of a ladder → the file of its best model
    problems  none where the least validation loss is left to decide, and ``reason`` says why
    """

    folder: RunFolder
    models: dict[str, Path]
    problems: list[Path]
    domain: Path | None
    max_steps: int
    reason: str = ""


@dataclass(frozen=True)
class Selected:
    """What became of a selection.

    chosen    the name of the seed or rung whose model is now the run's, such as "seed-1"
    problems  the SHA-256 of each problem's file, sorted
    scores    name of a seed or rung → what its policy solved
    losses    name of a seed or rung → its least validation loss
    """

    chosen: str
    model_path: Path
    policy: str
    max_steps: int
    problems: list[str]
    scores: dict[str, Score]
    losses: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """What the model says of it."""
        models = {name: asdict(score) | {"validation_loss": self.losses[name]} for name, score in self.scores.items()}
        return {"policy": self.policy, "max_steps": self.max_steps, "problems": self.problems, "models": models}


def select(
    run: Path | str,
    problems: Path | str | None = None,
    *,
    policy: str | None = None,
    max_steps: int | None = None,
    timeout: float | None = None,
    memory_gib: float | None = None,
    workers: Workers | None = None,
    device: str = "auto",
) -> Selected:
    """Keep the model of a run whose policy solves most problems, instead of the one that the training kept.

    run        the folder of a training of several seeds
    problems   a folder of problems, larger than those of training; those that the run's recipe describes if not given

    >>> from trifold.training import train
    >>> run = train("gripper", "runs/two", recipe="small", steps=2, seeds=2).run  # gripper/domain.pddl, …
    >>> selected = select(run, "problem.pddl", max_steps=3, workers=1)
    >>> sorted(selected.scores), selected.chosen in selected.scores
    (['seed-0', 'seed-1'], True)
    """
    found = find_candidates(Path(run), None if problems is None else Path(problems), max_steps)
    if not found.problems:
        raise TrifoldError(f"{found.reason}, so the model that the training kept stays", place=str(run))
    limits: dict[str, Any] = {"timeout": timeout, "memory_gib": memory_gib, "workers": workers, "device": device}
    return choose_candidate(found, policy=policy, **limits)


def find_candidates(run: Path, place: Path | None, max_steps: int | None) -> Candidates:
    """The models of a run, if its training is finished, and the problems of a folder or else of its recipe."""
    from trifold.pddl import find_domain, find_problems

    folder = RunFolder(run)
    models = {path.parent.name: path for path in sorted(run.glob("seed-*/best.safetensors"))}
    rungs = {} if models else {path.parent.name: path for path in sorted(run.glob("*/model.safetensors"))}
    if not (run / "config.json").exists():
        raise TrifoldError(
            "there is no training in this folder", place=str(run), remedy="give one that `trifold train` made"
        )
    if not _is_finished(folder, models, rungs):
        raise TrifoldError(
            "the training in this folder is not finished", place=str(run), remedy=f"trifold train --resume {run}"
        )
    models, steps = models or rungs, MAX_STEPS if max_steps is None else max_steps
    if place is None:
        with folder.opened("config.json") as content:
            described = recorded_recipe(content).selection
        if described is None or len(models) == 1:
            alone = "one rung was trained" if rungs else "one seed was trained"
            reason = alone if described else "its recipe names no problems to select on"
            return Candidates(folder, models, [], None, steps, reason)
        place = draw_selection(described, run / "selection")
        steps = described.max_steps if max_steps is None else max_steps
    return Candidates(folder, models, find_problems(place), find_domain(place), steps)


def _is_finished(folder: RunFolder, models: dict[str, Path], rungs: dict[str, Path]) -> bool:
    """Whether a training has ended, or a ladder and the trainings of its rungs."""
    from trifold.model import Model

    if not (models or rungs) or not folder.model.exists():
        return False
    trainings = [RunFolder(file.parent).training() for file in rungs.values()] or [folder.training()]
    ladder = Model.load(folder.model).provenance.get("ladder") or {}
    is_whole = not models or len(trainings[0]["seeds"]) == len(models)
    return is_whole and all(one.get("is_finished", True) for one in (*trainings, ladder))


def choose_candidate(
    found: Candidates,
    *,
    policy: str | None = None,
    on_record: Callable[[Record, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
    **limits: Any,
) -> Selected:
    """Follow the policy of each candidate on each problem, and make the best the run's model.

    Of equals, the one with the shortest plans where all solve, then with the least validation loss.
    """
    from trifold.evaluation import best_of, evaluate, file_sha256, score_each
    from trifold.shipped import best_policy

    policy = policy or best_policy(next(iter(found.models.values())))  # which are of one kind
    settings: dict[str, Any] = limits | {"policy": policy, "max_steps": found.max_steps, "domain": found.domain}
    losses = {name: _validation_loss(path) for name, path in found.models.items()}
    records = found.folder.path / "selection.jsonl"
    attempts = {
        name: evaluate(path, found.problems, records=records, on_record=on_record, on_wait=on_wait, **settings)
        for name, path in found.models.items()
    }
    scores = score_each(attempts)
    chosen, hashes = best_of(scores, losses), sorted(map(file_sha256, found.problems))
    selected = Selected(chosen, found.folder.model, policy, found.max_steps, hashes, scores, losses)
    _keep(found.folder, found.models[chosen], selected)
    return selected


def _keep(folder: RunFolder, file: Path, selected: Selected) -> None:
    """Make the model in a file that of the run, and let it say how it was selected; if it is, nothing is written."""
    from trifold.model import Model

    with folder.locked():
        model = Model.load(file)
        trained = RunFolder(file.parent) if file.name == folder.model.name else folder  # a rung of a ladder is a run
        model.provenance |= {"training": trained.training(), "selection": selected.to_json()}
        if Model.load(folder.model).provenance != model.provenance:
            model.save(folder.model)


def draw_selection(selection: Selection, folder: Path) -> Path:
    """Draw two problems of each size of a selection into the folder."""
    from trifold.domains import DOMAINS, draw_problems, split_texts, write_texts

    name, seed = selection.domain, selection.generator_seed
    defaults = {option.name: option.default for option in DOMAINS[name].options.values()}
    try:
        drawn = [each for size in selection.sizes for each in draw_problems(name, [defaults | size] * 2, seed)]
        write_texts(folder, split_texts(name, {"": drawn}))
    except ValueError as error:
        raise TrifoldError(f"the selection of the recipe cannot be drawn: {error}", place=str(folder)) from None
    return folder


def _validation_loss(file: Path) -> float:
    from trifold.model import Model
    from trifold.provenance import Origin

    loss = Origin.of(Model.load(file).provenance).validation_loss
    if loss is None:
        raise TrifoldError("this model does not say its validation loss", place=str(file), remedy="restore the file")
    return loss
