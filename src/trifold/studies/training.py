"""The training of a cell, in a child process, on whatever machine: begun, or gone on with from its last save."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trifold.data import Labelled
from trifold.errors import TrifoldError
from trifold.training import Progress, RunFolder, TrainingResult, Watcher, recorded_recipe, resume, train

Report = Callable[[dict[str, Any]], None]


class Teller(Watcher):
    """Reports how far a training is to whoever asked for it."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def labelled(self, item: Labelled) -> None:
        """Say that a problem was labelled."""
        self.report({"event": "labelled", "problem": item.path.name})

    def progress(self, progress: Progress) -> None:
        """Say how far a seed has come."""
        self.report({"event": "progress", **asdict(progress)})

    def failed(self, seed: int, error: TrifoldError) -> None:
        """Say that one of several models is left out."""
        self.report({"event": "failed", "seed": seed, "message": error.message})


def train_cell(job: dict[str, Any], report: Report) -> dict[str, Any]:
    """Train in the folder of a cell to the end; returns what a table tells of it."""
    import torch

    sys.argv = list(job["command"])  # which the model says that it was trained by
    torch.set_num_threads(job["threads"])
    folder, directory, begun = RunFolder(Path(job["run"])), Path(job["directory"]), job["begun"]
    if begun and begun != job["run"]:
        shutil.copytree(begun, folder.path, dirs_exist_ok=True)  # it has travelled here
    options: dict[str, Any] = {"device": job["device"], "workers": job["threads"], "watcher": Teller(report)}
    options |= {
        "try_larger": False
    }  # the study has test sets, and a training that depends on the clock is not the same
    if (folder.path / "config.json").exists():
        _move(folder, directory)
        result = resume(folder.path, **options)
    else:
        result = train(directory, folder.path, recorded_recipe(job["recipe"]), **options)
    return _tell(result)


def _move(folder: RunFolder, directory: Path) -> None:
    """Let a run that comes from elsewhere look for its problems where they are now; it knows them by their hash."""
    with folder.opened("config.json") as content:
        if content["directory"] != str(directory.resolve()):
            folder.write("config.json", content | {"directory": str(directory.resolve())})


def _tell(result: TrainingResult) -> dict[str, Any]:
    held_out = result.coverage
    return {
        "seconds": result.seconds,
        "steps": result.steps,
        "validation_loss": result.validation_loss,
        "held_out": [held_out.solved, held_out.problems] if held_out else None,
    }
