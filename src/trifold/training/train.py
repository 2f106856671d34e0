"""Training from a folder of PDDL files to a run folder with a model, and resuming it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from trifold.data import (
    HELD_OUT,
    Dataset,
    Labelled,
    LabelLimits,
    Split,
    dead_end_target,
    default_cache,
    label,
    read_folder,
    recorded_split,
    split,
)
from trifold.errors import TrifoldError
from trifold.files import read_text
from trifold.model import Model, ModelConfig, choose_device
from trifold.provenance import describe_environment
from trifold.sealed import Damaged, fill
from trifold.training.loop import Progress, train_in_turns
from trifold.training.merge import merge_states
from trifold.training.plot import plot_curves
from trifold.training.run import RunFolder
from trifold.training.settings import PRESETS, Settings
from trifold.training.step import is_fused
from trifold.training.together import AT_ONCE, Ending, SharedClock, train_together

MAX_THREADS = 4_096


@dataclass(frozen=True)
class TrainingResult:
    """Where the model is, and how it did on the validation states."""

    run: Path
    model_path: Path
    validation_loss: float
    seed: int
    steps: int
    seconds: float

    def load(self) -> Model:
        return Model.load(self.model_path)


class Watcher:
    """What a training reports as it goes; the default says nothing. A display overrides what it shows."""

    def labelling(self, problems: int) -> None: ...

    def labelled(self, item: Labelled) -> None: ...

    def encoding(self, done: int, states: int) -> None: ...

    def prepared(self, summary: dict[str, Any]) -> None: ...

    def progress(self, progress: Progress) -> None: ...

    def failed(self, seed: int, error: TrifoldError) -> None: ...


def train(
    directory: Path | str,
    run: Path | str,
    *,
    preset: str = "paper",
    model: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    device: str = "auto",
    workers: int | None = None,
    limits: LabelLimits | None = None,
    cache: Path | None = None,
    watcher: Watcher | None = None,
) -> TrainingResult:
    """Learn a value function from the problems of a folder.

    directory  has domain.pddl and problems in train/ and validation/, in train/, or beside it
    run        the folder to make for the run
    preset     "paper", "fast" or "small"
    model      fields of ``ModelConfig`` that differ from the preset's, such as {"t": 2}
    settings   fields of ``Settings`` that differ from the preset's, such as {"steps": 500}

    >>> result = train("gripper", "runs/first", preset="small", settings={"steps": 2})  # gripper/domain.pddl, …
    >>> result.steps, result.load().name
    (2, 'R-GNN[1]')
    """
    if preset not in PRESETS:
        raise TrifoldError(f"there is no preset {preset!r}", remedy=f"one of {', '.join(PRESETS)}")
    config, chosen = PRESETS[preset].build(model or {}, settings or {})
    folder = RunFolder(Path(run))
    read_folder(Path(directory))
    content = {
        "directory": str(Path(directory).resolve()),
        "preset": preset,
        "model": config.to_json(),
        "settings": chosen.to_json(),
        "limits": asdict(limits or LabelLimits()),
        "device": choose_device(device),
        "threads": torch.get_num_threads(),
        "command": sys.argv,
    }
    with folder.locked():
        if (folder.path / "config.json").exists():
            raise TrifoldError(
                "there is a run in this folder already",
                place=str(folder.path),
                remedy="go on with `trifold train --resume`, or choose another folder with --run",
            )
        return _run(folder, content, workers, cache, watcher or Watcher())


def resume(
    run: Path | str,
    *,
    steps: int | None = None,
    minutes: float | None = None,
    device: str | None = None,
    workers: int | None = None,
    cache: Path | None = None,
    watcher: Watcher | None = None,
) -> TrainingResult:
    """Go on with a run from its last save, to the end that was asked for or to another one.

    With the same number of steps it ends exactly where an unbroken run would have ended, on a CPU bit for bit.
    """
    folder = RunFolder(Path(run))
    with folder.opened("config.json") as content:
        _check_config(content)
        settings = Settings.from_json(content["settings"])
    changes: dict[str, Any] = {"steps": steps, "minutes": minutes}
    changes = {name: value for name, value in changes.items() if value is not None}
    content["settings"] = replace(settings, **changes).to_json()
    content["device"] = choose_device(device or content["device"])
    if folder.model.exists():
        folder.training()  # which is read when all is done: better to know now that it cannot be
    torch.set_num_threads(content["threads"])  # sums are added in an order that depends on it
    with folder.locked():
        return _run(folder, content, workers, cache, watcher or Watcher())


def _check_config(content: dict[str, Any]) -> None:
    """Raise unless all that a run reads from its config.json is there, and of its type."""
    for name in ("directory", "preset", "device"):
        if not isinstance(content[name], str) or "\0" in content[name]:
            raise Damaged(f"its {name} is no text")
    if type(content["threads"]) is not int or not 1 <= content["threads"] <= MAX_THREADS:
        raise Damaged(f"its threads are {content['threads']!r:.20}")
    if not isinstance(content["command"], list) or not all(isinstance(word, str) for word in content["command"]):
        raise Damaged("its command is no list of words")
    ModelConfig.from_json(content["model"])
    fill(LabelLimits, content["limits"])
    read_folder(Path(content["directory"]))


def _run(
    folder: RunFolder, content: dict[str, Any], workers: int | None, cache: Path | None, watcher: Watcher
) -> TrainingResult:
    """Prepare the data, then train every seed from where its folder stands."""
    config, settings = ModelConfig.from_json(content["model"]), Settings.from_json(content["settings"])
    files = read_folder(Path(content["directory"]))
    domain_text = read_text(files.domain)
    problems = [*files.training, *files.validation]
    watcher.labelling(len(problems))
    labelled = label(
        files.domain,
        problems,
        limits=LabelLimits(**content["limits"]),
        workers=workers,
        cache=cache or default_cache(),
        on_progress=watcher.labelled,
    )
    parts = _read_split(folder, labelled) or split(domain_text, labelled, len(files.training), settings.seed)
    encoder = config.build_encoder()
    spaces = [[item.space for item in items if item.space is not None] for items in (parts.training, parts.validation)]
    target = dead_end_target(spaces[0], settings.dead_ends)
    device = content["device"]
    data = Dataset.build(spaces[0], encoder, dead_end_target=target, device=device, on_progress=watcher.encoding)
    held_out = Dataset.build(spaces[1], encoder, dead_end_target=target, device=device, max_gib=0)  # a sample is enough
    if settings.merge:
        data = merge_states(data, config)
    summary = describe_data(domain_text, labelled, parts, target, data, held_out)
    if (folder.path / "data.json").exists():
        with folder.opened("data.json") as before:
            known = before["hash"]
        if known != summary["hash"]:
            raise _changed(content["directory"])
    environment = describe_environment(content["device"])
    folder.write("config.json", content)
    folder.write("data.json", summary)
    folder.write("environment.json", environment)
    watcher.prepared(summary)

    first, seeds = spaces[0][0], range(settings.seed, settings.seed + settings.seeds)
    clock, trainings = SharedClock(), []
    for seed in seeds:
        model = Model.fresh(config, first.table.signature, domain_text, data.atom_counts, seed).to(device)
        model.provenance = {
            "preset": content["preset"],
            "settings": settings.to_json() | {"seed": seed},
            "command": content["command"],
            "data": {name: summary[name] for name in ("hash", "problems", "states", "dead_ends", "largest_value")}
            | {"split": describe_split(parts)},
            "environment": environment,
        }
        trainings.append(
            train_in_turns(model, data, held_out, settings, seed, folder.seed(seed), watcher.progress, clock)
        )
    captured = is_fused(model, data, settings.kernels) and config.network == "rgnn"  # else the host is what is busy
    most = AT_ONCE if captured else 1
    endings: dict[int, Ending] = {}
    while len(endings) < len(seeds):
        ended = train_together(trainings[len(endings) :], clock, most, data.targets.device)
        new = dict(zip(seeds[len(endings) :], ended, strict=False))
        endings |= new
        for seed, ending in new.items():
            if ending.error and len(seeds) > 1:
                watcher.failed(seed, ending.error)
        if all(ending.error for ending in endings.values()):
            continue
        saved = {seed: folder.seed(seed).saved_state() for seed in seeds if seed not in endings}  # in another process
        _keep_best(folder, endings | {seed: Ending(state) for seed, state in saved.items() if state})
        plots = [folder.seed(seed) for seed in endings]
        plot_curves(plots, f"{config.label} on {first.domain}", folder.path / "curves.png")
    chosen, best = _best(endings)
    seconds = sum(ending.state.seconds for ending in endings.values())
    return TrainingResult(folder.path, folder.model, best, chosen, endings[chosen].state.step, seconds)


def _read_split(folder: RunFolder, labelled: Sequence[Labelled]) -> Split | None:
    """The split that the run began with, or None if it did not begin."""
    if not (folder.path / "data.json").exists():
        return None
    with folder.opened("data.json") as recorded:
        if [file["file"] for file in recorded["files"]] != [item.path.name for item in labelled]:
            raise _changed(str(labelled[0].path.parent))
        roles = [file["role"] for file in recorded["files"]]
        if lost := [
            f"{item.path.name} ({item.outcome})"
            for item, role in zip(labelled, roles, strict=True)
            if role != "left out" and item.space is None
        ]:
            raise TrifoldError(
                f"problems of this run were labelled when it began, but not this time: {', '.join(lost)}",
                place=str(folder.path),
                remedy="restore what has changed, or raise seconds or memory_gib in the limits of its config.json "
                "(with the same limits a failure is not tried again), and resume again",
            )
        return recorded_split(labelled, roles, recorded["split"])


def _changed(place: str) -> TrifoldError:
    return TrifoldError(
        "the problems have changed since this run began, or its data.json has",
        place=place,
        remedy="restore them, or train anew in another folder",
    )


def _best(endings: dict[int, Ending]) -> tuple[int, float]:
    """The seed with the least validation loss of those that did not fail, and that loss; raises if all failed."""
    losses = {
        seed: ending.state.best
        for seed, ending in endings.items()
        if not ending.error and ending.state.best is not None
    }
    for ending in endings.values():
        if ending.error and not losses:
            raise ending.error
    chosen = min(losses, key=losses.__getitem__)
    return chosen, losses[chosen]


def _keep_best(folder: RunFolder, endings: dict[int, Ending]) -> None:
    """Make the best model of the seeds the run's, with what all of them cost: those that are not kept cost as much.

    Where none of them has gone on since a model was kept, that one stays: it may have been selected.
    """
    steps = {seed: ending.state.step for seed, ending in endings.items()}
    if folder.model.exists():
        before = folder.training()
        if dict(zip(before["seeds"], before["steps"], strict=True)) == steps:
            return
    kept = Model.load(folder.seed(_best(endings)[0]).best)
    kept.provenance["training"] = {
        "seeds": list(steps),
        "steps": list(steps.values()),
        "seconds": [ending.state.seconds for ending in endings.values()],
    }
    kept.save(folder.model)


def describe_data(
    domain_text: str,
    labelled: Sequence[Labelled],
    parts: Split,
    target: float | None,
    data: Dataset,
    held_out: Dataset,
) -> dict[str, Any]:
    """The data of a run as JSON: what was labelled, what was left out and why, and a hash of what is learned from."""
    digest, training, validation = hashlib.sha256(domain_text.encode()), parts.training, parts.validation
    for role, items in (("validation", validation), ("training", training)):
        for item in items:
            digest.update(f"\0{role}\0{item.digest}".encode())
    return {
        "hash": digest.hexdigest(),
        "problems": len(training),
        "states": int(data.weights.sum()),
        "inputs": len(data),  # fewer than states if they were merged
        "dead_ends": sum(item.dead_ends for item in training),
        "dead_end_target": target,
        "largest_value": max(item.max_distance for item in training),
        "validation_problems": len(validation),
        "validation_states": len(held_out),
        "split": parts.to_json(),
        "resident": data.encoder is None,
        "bytes": data.structures.nbytes,
        "atoms": data.atom_counts,
        "files": [
            {
                "file": item.path.name,
                "role": role,
                "outcome": item.outcome,
                "message": item.message,
                "states": item.states,
                "kept": item.kept,
                "dead_ends": item.dead_ends,
                "largest_value": item.max_distance,
            }
            for item, role in zip(labelled, parts.roles(labelled), strict=True)
        ],
    }


def describe_split(parts: Split) -> dict[str, Any]:
    """The split as a model remembers it: the rule and, where files of one folder were split, which went where."""
    if parts.rule != HELD_OUT:
        return {"rule": parts.rule}
    names = {
        role: [item.path.name for item in items]
        for role, items in (("training", parts.training), ("validation", parts.validation))
    }
    return {"rule": parts.rule, "families": parts.families, **names}
