"""What the other processes of a training do: what the first one tells them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from trifold.data import Dataset, read_folder, recorded_split
from trifold.errors import TrifoldError
from trifold.files import read_text
from trifold.memory import memory_errors
from trifold.model import Model
from trifold.processes import Workers
from trifold.training.orders import Compare, GoBack, Prepare, Start, describe_labels, digest_weights
from trifold.training.parallel import Astray, End, Parted, Ranks, Step, in_ranks
from trifold.training.prepare import begin_model, encode, label_problems
from trifold.training.sampler import BalancedSampler
from trifold.training.settings import Settings
from trifold.training.step import TrainingStep, build_optimizer, forget, set_rate

T = TypeVar("T")

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def lead(work: Callable[[Ranks], T], workers: Workers | None = None, cache: Path | None = None) -> T:
    """What the work returns, which the first process does, with the help of the others if torchrun has started some."""
    result: T = in_ranks(work, lambda ranks: assist(ranks, workers, cache))
    return result


def assist(ranks: Ranks, workers: Workers | None, cache: Path | None) -> Any:
    """Do what the first process tells until it has come to its end, and return what it returns."""
    try:
        with memory_errors(lambda: "train by fewer processes, or with a smaller batch, dim or keep (--set batch=8)"):
            return _assist(ranks, workers, cache)
    except TrifoldError as error:
        if isinstance(error, Parted):
            raise
        own = Astray(f"process {ranks.rank} of {ranks.count}: {error.message}", place=error.place, remedy=error.remedy)
        own.exit_code = error.exit_code
        raise own from error


def _assist(ranks: Ranks, workers: Workers | None, cache: Path | None) -> Any:
    material: Material | None = None
    seed: Seed | None = None
    while True:
        with _ended_at_once():
            order = ranks.hear()
        match order:
            case Step():
                assert seed is not None
                seed.step(order)
            case Prepare():
                material = seed = None  # before there is another: both may be large
                material = Material.gather(order, ranks, workers, cache)
            case Start():
                assert material is not None
                seed = None
                seed = Seed(material, order, ranks)
            case GoBack():
                assert seed is not None
                seed.go_back(order)
                ranks.meet()
            case Compare():
                assert seed is not None
                ranks.gather(digest_weights(seed.model.network, seed.optimizer))
            case End(code=0):
                return order.result
            case End():
                raise SystemExit(order.code)


@dataclass(frozen=True)
class Material:
    """What is learned from, and an untrained model for it, as in the first process."""

    data: Dataset
    first: Model
    settings: Settings

    @classmethod
    def gather(cls, order: Prepare, ranks: Ranks, workers: Workers | None, cache: Path | None) -> Material:
        """Label the problems, which the cache knows by now on the first machine, and encode them."""
        content = order.content
        torch.set_num_threads(min(content["threads"], torch.get_num_threads()))
        ranks.use(content["device"])
        files = read_folder(Path(content["directory"]))
        problems = [*files.training, *files.validation]
        used = [problems[place] for place in order.places if place < len(problems)]
        if ranks.place:
            ranks.connect(content["device"])  # one process labels on each machine
        labelled = label_problems(files.domain, used, content, workers, cache)
        if not ranks.place:
            ranks.connect(content["device"])
        if describe_labels(labelled) != order.labels:
            raise TrifoldError(
                "it has found other problems, or other labels, than the first process",
                place=content["directory"],
                remedy="let all machines read the same folder, and the same cache of labels ($TRIFOLD_CACHE)",
            )
        parts = recorded_split(labelled, order.roles, order.split)
        data, first, _ = encode(content, parts, read_text(files.domain))
        settings = Settings.from_json(content["settings"])
        # The first one loads seconds of torch, so this one does it now, while the other is as busy.
        build_optimizer(first.network, settings.learning_rate, first.backend)
        return cls(data, first, settings)


class Seed:
    """A seed of a training, in another process than the first."""

    def __init__(self, material: Material, order: Start, ranks: Ranks) -> None:
        data, settings = material.data, material.settings
        self.model = begin_model(material.first, order.seed)
        self.optimizer = build_optimizer(self.model.network.train(), settings.learning_rate, self.model.backend)
        self.model.network.load_state_dict(order.weights)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": order.moments, "param_groups": groups})
        sampler = BalancedSampler(data.targets, settings.batch, order.seed, data.weights, settings.balance)
        self.take_step = TrainingStep(self.model, self.optimizer, data, sampler, settings.clip, ranks)
        ranks.meet()

    def step(self, order: Step) -> None:
        """Take this process's share of a step."""
        set_rate(self.optimizer, order.rate)
        self.take_step(order.number)

    def go_back(self, order: GoBack) -> None:
        """Take the best weights again."""
        self.model.network.load_state_dict(order.weights)
        forget(self.optimizer)


@contextmanager
def _ended_at_once() -> Iterator[None]:
    """Let signals end the process without Python, which hears nothing while it waits: there is nothing to clear up."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    try:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, signal.SIG_DFL)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
