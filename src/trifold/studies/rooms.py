"""How much is done at once: steps share the cores of this machine, and trainings its GPUs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from trifold.cluster import Cluster
from trifold.evaluation import threads_each
from trifold.model import choose_device
from trifold.processes import Children, Crew, available_cores
from trifold.studies.description import Description, Machines
from trifold.studies.doing import Means
from trifold.studies.gathered import Gathered
from trifold.studies.steps import DRAW, EVALUATE, SELECT, STAGES, TRAIN, Step


@dataclass
class Rooms:
    """The room that there is for steps on this machine.

    at_once  how many steps
    devices  GPU → the share of it that is free; none where all is done by cores
    on_gpus  the stages that take a share
    taken    what each step that runs takes of which GPU
    """

    at_once: int
    share: float
    devices: dict[str, float]
    on_gpus: frozenset[str]
    cores: int
    taken: dict[Step, str | None] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """Of each training: an equal share of the cores, whatever else runs, or what OMP_NUM_THREADS says."""
        return threads_each(self.at_once)

    @property
    def trainings_at_once(self) -> int:
        """How many trainings there is room for."""
        on_devices = sum(int(1 / self.share + 1e-9) for _ in self.devices) if self.share else self.at_once
        return max(1, min(self.at_once, on_devices if self.devices else self.at_once))

    def take(self, step: Step, ahead: Collection[Step]) -> Means | None:
        """The means for a step, if there is room for it now; ``ahead`` are all steps that are not done."""
        if len(self.taken) >= self.at_once:
            return None
        device = None
        if self.devices and step.stage in self.on_gpus:
            device = max(self.devices, key=self.devices.__getitem__)
            if self.devices[device] + 1e-9 < self.share:
                return None
            self.devices[device] -= self.share
        self.taken[step] = device
        hands = max(1, self.cores // max(1, min(self.at_once, len(ahead))))
        return Means(Children(hands), device or "cpu", self.threads)

    def leave(self, step: Step) -> None:
        """A step has ended."""
        device = self.taken.pop(step)
        if device is not None:
            self.devices[device] += self.share


class ClusterRooms:
    """The room that there is for steps on a cluster, which does one call at a time: stage after stage.

    All trainings are one call, in which each takes a CPU of a node and its share of a GPU; then the attempts of one
    trial after the other are. Problems are drawn on this machine.
    """

    def __init__(self, cluster: Cluster, machines: Machines) -> None:
        self._cluster, self._device = cluster, machines.device
        self._trainings = Gathered(cluster, 0.0 if machines.device == "cpu" else machines.gpus)
        self._taken: dict[Step, None] = {}

    @property
    def trainings_at_once(self) -> int:
        """How many trainings there is room for."""
        return self._cluster.size

    @property
    def cores(self) -> int:
        """How many attempts are made at once."""
        return self._cluster.size

    def take(self, step: Step, ahead: Collection[Step]) -> Means | None:
        """The means for a step, if its turn has come."""
        if any(STAGES.index(one.stage) < STAGES.index(step.stage) for one in ahead):
            return None
        if step.stage != TRAIN and self._taken:
            return None
        self._taken[step] = None
        crew: Crew = self._cluster
        if step.stage in (DRAW, TRAIN):
            crew = Children(1) if step.stage == DRAW else self._trainings
        return Means(crew, self._device, 1)

    def leave(self, step: Step) -> None:
        """A step has ended."""
        del self._taken[step]


def find_rooms(study: Description, workers: Cluster | int | None, trainings: int) -> Rooms | ClusterRooms:
    """The room on a cluster, or on this machine: so many steps, or one per core, or per training if they are fewer."""
    if isinstance(workers, Cluster):
        return ClusterRooms(workers, study.machines)
    machines, cores = study.machines, available_cores()
    chosen = choose_device(machines.device)
    at_once = workers or max(1, min(cores, trainings))
    devices = {}
    if chosen.startswith("cuda"):
        import torch

        names = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        devices = dict.fromkeys([chosen] if ":" in chosen else names, 1.0)
    on_gpus = {TRAIN} if study.evaluation.device == "cpu" else {TRAIN, SELECT, EVALUATE}
    return Rooms(at_once, machines.gpus, devices, frozenset(on_gpus), cores)
