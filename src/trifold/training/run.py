"""Run folders: all that a training leaves behind, and all that it needs to go on.

config.json         what was asked for: data folder, architecture, settings, teacher, threads
environment.json    versions and hardware
data.json           problems, their roles, outcomes and counts, the rule of the split, and the hash of the data
model.safetensors   the best model of all seeds
curves.png          losses and coverage over steps
seed-N/             for each seed:
  metrics.jsonl       one line per validation
  best.safetensors    the best model so far, as ``keep_by`` of the recipe has it
  last.safetensors    the last save: weights, optimizer and counters, in one file, so that it is whole
  lessons.jsonl       where there is a teacher: one line per way of practice, see ``lessons``
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch

from trifold.errors import TrifoldError
from trifold.files import MOST_BYTES, in_turn, make_folder, missing, open_regular, sweep, write_whole
from trifold.lines import append_line, read_lines
from trifold.model import Model, open_checkpoint, read_tensors, write_checkpoint
from trifold.sealed import MAX_BYTES, Damaged, fill, parse_object

MAX_LAPSES = 10_000
MAX_LOSS = 1e100
"""More than any loss that can be logged, and little enough to be drawn."""


class Diverged(TrifoldError):
    """The loss of a training is not finite any more."""


@dataclass(frozen=True)
class TrainingState:
    """The counters of a training.

    best              the validation loss of the weights that are kept
    best_solved, best_length
                      what their policy did on held-out problems, as ``Coverage`` has it; None if it was not followed
    validation        the last validation loss
    optimal           the last share of validation states whose best-scored action is optimal
    solved, length    what the policy did when it was followed last
    moment            which of the moments that was: see ``loop``
    policy_seconds    that following it has taken so far
    larger_solved, larger_problems, larger_moment, larger_seconds
                      the same of larger problems, when the policy was last tried on them: see ``larger``
    loss              the mean training loss before the last validation
    since, loss_sum   the steps since then, and the sum of their losses
    lapses            how often the weights were lost, and those that are kept taken again
    beyond            batches that were beyond the backend, whose steps the reference took
    rounds            of practice that the pupil of a teacher has had
    best_rounds       and that the weights had had that are kept
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    validation: float | None = None
    optimal: float | None = None
    loss: float = 0.0
    since: int = 0
    loss_sum: float = 0.0
    lapses: int = 0
    beyond: int = 0
    best_solved: int | None = None
    best_length: float | None = None
    solved: int | None = None
    length: float | None = None
    moment: int = 0
    policy_seconds: float = 0.0
    larger_solved: int | None = None
    larger_problems: int = 0
    larger_moment: int = 0
    larger_seconds: float = 0.0
    rounds: int = 0
    best_rounds: int = 0

    def rank(self, keep_by: str) -> tuple[float, ...]:
        """Where the kept weights stand among others: less is better; a policy that was not followed has solved none.

        Weights that were taught more come first: what is held out is small, and does not tell what they learned by it.

        >>> mine, other = TrainingState(best=0.3, best_solved=4, best_length=1.1), TrainingState(best=0.2)
        >>> mine.rank("policy") < other.rank("policy"), mine.rank("loss") < other.rank("loss")
        (True, False)
        """
        loss = math.inf if self.best is None else self.best
        if keep_by == "loss":
            return -self.best_rounds, loss
        length = math.inf if self.best_length is None else self.best_length
        return -self.best_rounds, -(self.best_solved or 0), length, loss

    @classmethod
    def from_json(cls, values: object) -> TrainingState:
        """The counters from JSON; what cannot be any is damaged."""
        state = fill(cls, values)
        if any(value is not None and value < 0 for value in asdict(state).values()) or state.lapses > MAX_LAPSES:
            raise Damaged("its counters are none")
        return state


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run."""

    path: Path

    @property
    def model(self) -> Path:
        """The file of the best model of all seeds."""
        return self.path / "model.safetensors"

    def seed(self, seed: int) -> SeedFolder:
        """The folder of a seed."""
        return SeedFolder(self.path / f"seed-{seed}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one process: two trainings in one folder would overwrite each other."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TrifoldError(f"cannot make the run folder: {error.strerror}", place=str(self.path)) from error
        try:
            with in_turn(self.path / ".lock", self._refuse):
                yield
        finally:
            with suppress(OSError):
                self.path.rmdir()  # if nothing began: leave nothing behind

    def _refuse(self) -> NoReturn:
        raise TrifoldError(
            "another process is training in this folder",
            place=str(self.path),
            remedy="wait for it, or choose another folder with --run",
        )

    def refuse_if_begun(self) -> None:
        """Raise if there is a run in the folder."""
        if (self.path / "config.json").exists():
            raise TrifoldError(
                "there is a run in this folder already",
                place=str(self.path),
                remedy="go on with `trifold train --resume`, or choose another folder with --run",
            )

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Write one of the JSON files."""
        try:
            text = json.dumps(content, indent=2, allow_nan=False)
        except ValueError as error:
            raise TrifoldError(f"{name} cannot be written: {error}", place=str(self.path)) from error
        write_whole(self.path / name, f"{text}\n".encode())

    @contextmanager
    def opened(self, name: str) -> Iterator[dict[str, Any]]:
        """The content of one of the JSON files; whatever goes wrong while it is read is a TrifoldError about it."""
        path = self.path / name
        try:
            with open_regular(path) as file:
                content = file.read(MAX_BYTES + 1)
            yield parse_object(content)
        except OSError as error:
            if not self.path.exists():
                raise missing(self.path, "there is no such folder", Path.is_dir) from error
            raise TrifoldError(
                f"this is not the folder of a training run: {name} cannot be read: {error.strerror}",
                place=str(self.path),
                remedy="give the folder that `trifold train` made",
            ) from error
        except TrifoldError as error:
            error.place = error.place or str(path)
            raise
        except (ValueError, LookupError, TypeError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else error
            raise TrifoldError(
                f"{name} is damaged, or of another version: {reason}",
                place=str(path),
                remedy="restore the file, or train anew in another folder",
            ) from error

    def training(self) -> dict[str, Any]:
        """What the run's model says of the training of all seeds: lists of the seeds, their steps and their seconds."""
        training: Any = Model.load(self.model).provenance.get("training")
        match training:
            case {"seeds": [*seeds], "steps": [*steps], "seconds": [*seconds]}:
                if len(seeds) == len(steps) == len(seconds) and all(type(number) is int for number in seeds + steps):
                    return dict(training)
        raise TrifoldError(
            "this is no model of a training run, or of an older version",
            place=str(self.model),
            remedy=f"move it away, then `trifold train --resume {self.path}` makes it again",
        )


@dataclass(frozen=True)
class SeedFolder:
    """The folder of one seed of a run."""

    path: Path

    @property
    def best(self) -> Path:
        """The file of the best model so far."""
        return self.path / "best.safetensors"

    @property
    def last(self) -> Path:
        """The file of the last save."""
        return self.path / "last.safetensors"

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl; what a crash has torn is no line."""

        def check(line: dict[str, Any]) -> dict[str, Any]:
            policy = ("solved", "problems") if "solved" in line else ()
            larger = ("larger_solved", "larger_problems") if "larger_solved" in line else ()
            for name in ("step", "loss", "validation", *policy, *larger):
                if type(line.get(name)) not in (int, float) or not 0 <= line[name] < MAX_LOSS:
                    raise Damaged(f"it has no {name}")
            return line

        path = self.path / "metrics.jsonl"
        if not path.exists():
            return []
        remedy = "restore the file, or remove it: the run goes on without the curve of these steps"
        return read_lines(path, "step", check, what="a line of metrics", remedy=remedy, most_bytes=MOST_BYTES)

    def log(self, line: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl; its step comes first."""
        append_line(self.path / "metrics.jsonl", line)

    def save(self, model: Model, optimizer: torch.optim.Optimizer, state: TrainingState) -> None:
        """Save all that a resumed run needs, as one file."""
        tensors = {f"network.{name}": weight.detach() for name, weight in model.network.state_dict().items()}
        for index, entries in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in entries.items()}
        cpu = {name: tensor.cpu() for name, tensor in tensors.items()}
        write_checkpoint(self.last, cpu, {"kind": "training", "state": asdict(state)})

    def saved_state(self) -> TrainingState | None:
        """The counters of the last save, if there is one."""
        if not self.last.exists():
            return None
        with open_checkpoint(self.last, kind="training") as file:
            file.read()  # for its checksum
            return TrainingState.from_json(file.header["state"])

    def save_best(self, model: Model, found: dict[str, Any]) -> None:
        """Keep the model as the best so far, with what was found of it."""
        model.provenance = model.provenance | {"selected": found}
        model.save(self.best)

    def load(self, model: Model, optimizer: torch.optim.Optimizer) -> TrainingState:
        """Set the model and the optimizer to the last save, and forget what was logged after it."""
        make_folder(self.path)
        sweep(self.path)
        if not self.last.exists():
            (self.path / "metrics.jsonl").unlink(missing_ok=True)
            return TrainingState()
        shapes = {f"network.{name}": tuple(weight.shape) for name, weight in model.network.state_dict().items()}
        with open_checkpoint(self.last, kind="training") as file:
            state = TrainingState.from_json(file.header["state"])
            for number, weight in enumerate(model.network.parameters()):
                moments = dict.fromkeys(("exp_avg", "exp_avg_sq"), tuple(weight.shape))
                entries = {f"optimizer.{number}.{name}": shape for name, shape in {"step": (), **moments}.items()}
                if entries.keys() & file.entries.keys():  # no batch so far may have had what the weight is for
                    shapes |= entries
            tensors = read_tensors(file, shapes)
        network = {name[8:]: tensor for name, tensor in tensors.items() if name.startswith("network.")}
        model.network.load_state_dict(network)
        found: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith("optimizer."):
                _, index, key = name.split(".")
                found.setdefault(int(index), {})[key] = tensor.clone()  # which the optimizer keeps
        optimizer.load_state_dict({"state": found, "param_groups": optimizer.state_dict()["param_groups"]})
        if state.best is not None:
            self._check_best(model)
        kept = "".join(json.dumps(line) + "\n" for line in self.metrics() if line["step"] <= state.step)
        write_whole(self.path / "metrics.jsonl", kept.encode())
        return state

    def _check_best(self, model: Model) -> None:
        """Raise unless the best model so far is there, whole and of this training: it is needed when the run ends."""

        def facts(one: Model) -> tuple[object, ...]:
            # How often relations were met depends on how much of the data fits on the device, encoded.
            met = {name for name, count in one.training_atoms.items() if count}
            return one.config, one.signature, met, one.schemas

        if facts(Model.load(self.best)) != facts(model):
            raise TrifoldError(
                "this is the model of another training",
                place=str(self.best),
                remedy="restore the file, or train anew in another folder",
            )
