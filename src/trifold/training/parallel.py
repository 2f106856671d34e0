"""Several processes for one training, such as one for each card: who they are, and what they tell each other.

The first one leads: it alone reads and writes the run folder, looks at the clock, validates and decides. The others
wait for what it tells them. So no two of them can come to different decisions, and how a training goes does not depend
on how many there are. Nothing here knows what is computed: see ``assist``.

Words go over gloo, whatever the device is: who waits for them, for hours maybe, keeps no card busy. Gradients of cards
go over NCCL.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.planning import Outcome

VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What torchrun tells each of the processes that it starts."""

PATIENCE = timedelta(days=7)
"""How long a process waits for the others: labelling may take hours. One that has died is noticed at once."""

GRACE_SECONDS = 2.0
"""What ends one process mostly ends all, one after the other: so long this one waits for its own signal."""

NO_STEP = -1


class Parted(TrifoldError):
    """Another process of the training has ended."""

    exit_code = Outcome.CRASH.exit_code


class Astray(TrifoldError):
    """What is wrong with this process of a training alone: the first one cannot tell it."""


@dataclass(frozen=True)
class Step:
    """Tells a process to take its share of a step, at this learning rate."""

    number: int
    rate: float


@dataclass(frozen=True)
class End:
    """Tells a process that the training has ended: with a result, or with an exit code and words that were said."""

    result: Any = None
    code: int = 0


class Ranks:
    """The processes of a training, of which this is one; by default the only one, for which nothing is to be done.

    rank   of this one; 0 leads
    count  how many there are
    place  of this one among those of its machine
    """

    def __init__(self, rank: int = 0, count: int = 1, place: int = 0) -> None:
        self.rank, self.count, self.place = rank, count, place
        self.is_torn = False  # the others wait for this one in what was told, or one has gone: nothing can be told
        self.group: dist.ProcessGroup | None = None

    @property
    def is_alone(self) -> bool:
        """Whether there is no other process."""
        return self.count == 1

    @property
    def leads(self) -> bool:
        """Whether this process decides."""
        return self.rank == 0

    def use(self, device: str) -> None:
        """Let each process compute on a card of its own, or all on the CPU."""
        if self.is_alone or device == "cpu":
            return
        if device != "cuda":
            raise TrifoldError(
                f"each of several processes has a card of its own, and {device} is asked for",
                remedy="use --device cuda, and say which cards there are by CUDA_VISIBLE_DEVICES",
            )
        cards = torch.cuda.device_count()
        here = int(os.environ.get("LOCAL_WORLD_SIZE", self.place + 1))
        if here > cards:
            raise TrifoldError(
                f"each of several processes has a card of its own: there are {here} processes here, and {cards} cards",
                remedy=f"torchrun --nproc-per-node {cards}" if cards > 1 else "leave out torchrun",
            )
        torch.cuda.set_device(self.place)

    def connect(self, device: str) -> None:
        """Let the cards reach each other, and wait until the labels are in the cache of each machine."""
        if self.is_alone:
            return
        with _parting(self):
            if device == "cuda" and self.group is None:
                self.group = dist.new_group(backend="nccl", timeout=PATIENCE)
        self.meet()

    def tell(self, what: object) -> None:
        """Tell all others something; they ``hear`` it, and all meet when it is done, unless it is the end."""
        if self.is_alone:
            return
        if self.is_torn:
            raise Parted(
                "the other processes of this training wait in what this one has broken off",
                remedy="see what was said before; then go on with --resume, by as many processes as you like",
            )
        self.is_torn = not isinstance(what, End)  # before they hear it: an interrupt may come at any moment
        step = what if isinstance(what, Step) else Step(NO_STEP, 0.0)
        with _parting(self):
            dist.broadcast(torch.tensor([step.number, step.rate], dtype=torch.float64), 0)
            if step is not what:
                dist.broadcast_object_list([what], 0)

    def hear(self) -> Any:
        """What the first process tells."""
        said = torch.zeros(2, dtype=torch.float64)
        with _parting(self):
            dist.broadcast(said, 0)
            if said[0] >= 0:
                return Step(int(said[0]), float(said[1]))
            found: list[Any] = [None]
            dist.broadcast_object_list(found, 0)
        return found[0]

    def meet(self) -> None:
        """Wait until all are here."""
        if not self.is_alone:
            self.gather(0)

    def gather(self, number: int) -> list[int]:
        """The numbers of all processes, in their order; what was told is done."""
        own = torch.tensor([number])
        found = [torch.zeros_like(own) for _ in range(self.count)]
        with _parting(self):
            dist.all_gather(found, own)
        self.is_torn = False
        return [int(other) for other in found]

    def add_up(self, numbers: Tensor) -> None:
        """Put the sum over all processes in place of the numbers; this ends a step."""
        with _parting(self):
            dist.all_reduce(numbers, group=self.group)
        self.is_torn = False

    def share(self, batch: Tensor) -> Tensor:
        """The part of a batch that this process computes: every so manieth, as neighbours may be alike."""
        return batch if self.is_alone else batch[self.rank :: self.count]


ALONE = Ranks()
"""A training of one process."""

_gathered: list[Ranks] = []
"""The processes that have been found: a training may be a part of something larger."""

T = TypeVar("T")


def in_ranks(lead: Callable[[Ranks], T], follow: Callable[[Ranks], T]) -> T:
    """What the first of the processes does that torchrun has started, or this one alone; the others follow it.

    All return what the first one returns. What ends it ends the others, which say nothing of it.
    """
    if _gathered or not is_started_with_others():
        return lead(_gathered[0] if _gathered else ALONE)
    ranks = _join()
    _gathered.append(ranks)
    try:
        if not ranks.leads:
            return follow(ranks)
        result = lead(ranks)
        ranks.tell(End(result))
        return result
    except BaseException as error:
        if isinstance(error, Parted) and not ranks.leads:
            raise SystemExit(Parted.exit_code) from None  # the one that has ended has said why
        if ranks.leads and not ranks.is_torn:
            with suppress(Parted):
                ranks.tell(End(code=_exit_code(error)))
        raise
    finally:
        _gathered.clear()
        if ranks.group is None or not ranks.is_torn:  # NCCL may wait for one that has died
            dist.destroy_process_group()


def is_started_with_others() -> bool:
    """Whether torchrun has started several processes, of which this is one."""
    return all(name in os.environ for name in VARIABLES) and os.environ["WORLD_SIZE"] != "1"


def is_led() -> bool:
    """Whether this is one of several processes, and not the first: it says nothing that the first one says, too."""
    return is_started_with_others() and os.environ["RANK"] != "0"


class GradientSum:
    """The gradient of a batch of which each process has computed a part: one array, so that one message does.

    flat      (numbers + parameters + 1,) all gradients, in how many processes each parameter has one, and the loss
    parts     the gradients in it, by parameter
    """

    def __init__(self, parameters: Sequence[Tensor], ranks: Ranks) -> None:
        self.parameters, self.ranks = parameters, ranks
        sizes = [parameter.numel() for parameter in parameters]
        self.flat = torch.zeros(sum(sizes) + len(sizes) + 1, device=parameters[0].device)
        *parts, self.present, self.loss = self.flat.split([*sizes, len(sizes), 1])
        self.parts = [part.view_as(parameter) for part, parameter in zip(parts, parameters, strict=True)]

    def put(self, gradients: Sequence[Tensor | None], loss: Tensor) -> None:
        """Take the part of this process; a parameter that it has not met has no gradient."""
        present = [gradient is not None for gradient in gradients]
        met = torch.ones_like(self.present) if all(present) else torch.tensor(present).to(self.present)
        filled = [
            torch.zeros_like(parameter) if gradient is None else gradient
            for parameter, gradient in zip(self.parameters, gradients, strict=True)
        ]
        torch.cat([*(part.reshape(-1) for part in filled), met, loss.detach().reshape(1)], out=self.flat)

    def add_up(self) -> Tensor:
        """Add the parts of all processes up; returns the loss of the whole batch."""
        self.ranks.add_up(self.flat)
        loss: Tensor = self.loss.sum()
        return loss

    def give(self) -> None:
        """Make the sums the gradients of the parameters that any process has met; others have none, as in one alone."""
        for parameter, part, met in zip(self.parameters, self.parts, self.present.tolist(), strict=True):
            parameter.grad = part if met else None


def _join() -> Ranks:
    """Find the other processes."""
    try:
        rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        place = int(os.environ.get("LOCAL_RANK", rank))
        dist.init_process_group("gloo", timeout=PATIENCE)
    except (ValueError, RuntimeError) as error:
        raise Astray(
            f"the processes of this training cannot reach each other: {_first_line(error)}",
            remedy="start them by torchrun --nproc-per-node N -m trifold train …; "
            "GLOO_SOCKET_IFNAME=lo may help on one machine",
        ) from error
    return Ranks(rank, count, place)


@contextmanager
def _parting(ranks: Ranks) -> Iterator[None]:
    """Say it in words if another process has gone."""
    try:
        yield
    except RuntimeError as error:
        ranks.is_torn = True
        time.sleep(GRACE_SECONDS)
        raise Parted(
            f"another process of this training has ended, or cannot be reached any more: {_first_line(error)}",
            remedy="see what it said; then go on with --resume, by as many processes as you like",
        ) from error


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    return 130 if isinstance(error, KeyboardInterrupt) else getattr(error, "exit_code", 1)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
