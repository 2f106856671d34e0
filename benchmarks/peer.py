"""One training step against pymimir-rgnn in its own interpreter, on the same states, in turns."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch

from trifold.bench.timing import Timing
from trifold.errors import TrifoldError
from trifold.expressions import Source, normalise
from trifold.model import Model, ModelConfig
from trifold.pddl import StateSpace
from trifold.pddl.atoms import EVERY_OBJECT
from trifold.training import Settings

PEER = "pymimir_rgnn"
PEER_ENCODERS = {"plain": "plain", "pairs": "expressive"}
"""Trifold's encoder → the peer's that is nearest; it has none for the others."""

REMEDY = "pip install pymimir-rgnn there"


def check_peer(python: Path) -> None:
    """Refuse what is no interpreter, or one without pymimir-rgnn."""
    if not python.is_file():
        raise TrifoldError("there is no Python interpreter here", place=str(python), remedy="check the path")
    check = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({PEER!r}) is None)"
    try:
        has_it = subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0
    except OSError as error:
        raise TrifoldError(f"the interpreter does not run: {error}", place=str(python), remedy=REMEDY) from None
    if not has_it:
        raise TrifoldError("this interpreter has no pymimir-rgnn", place=str(python), remedy=REMEDY)


@dataclass(frozen=True)
class Comparison:
    """Steps of one of Trifold's networks and of the peer's nearest.

    our_assembly, their_assembly  the part of each step that assembles the batch
    our_messages, their_messages  how many messages a layer sends in the first state
    """

    ours: Timing
    theirs: Timing
    our_assembly: Timing
    their_assembly: Timing
    our_messages: int
    their_messages: int
    peer_versions: dict[str, str]

    @property
    def ratio(self) -> float:
        return self.theirs.median / self.ours.median


def compare_with_peer(
    python: Path,
    domain: Source,
    problem: Source,
    space: StateSpace,
    config: ModelConfig,
    *,
    batch: int,
    steps: int,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Measure steps in turns, each on a new batch of states drawn at random, the same one for both sides.

    The first step of each side is not counted.
    """
    if config.encoder not in PEER_ENCODERS:
        raise TrifoldError(f"pymimir-rgnn has nothing like {config.label}")
    states = _draw(space, (1 + steps) * batch, seed)
    targets = [float(space.distances[state]) for state in states]
    job = {
        "domain": normalise(domain.text),
        "problem": normalise(problem.text),
        "states": [_atoms(space, state) for state in states],
        "targets": targets,
        "encoder": PEER_ENCODERS[config.encoder],
        "dim": config.dim,
        "layers": config.layers,
        "learning_rate": Settings().learning_rate,
        "threads": torch.get_num_threads(),
        "device": "cpu",
    }
    trainee = _Trainee(domain.text, space, states, torch.tensor(targets), config)
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        _Peer(python, job, errors) as peer,
    ):
        if (peer.about["objects"], peer.about["threads"]) != (len(space.objects), torch.get_num_threads()):
            raise TrifoldError(f"the peer reads another problem, or has other threads: {peer.about}")
        batches = [list(range(start, start + batch)) for start in range(0, len(states), batch)]
        trainee.step(batches[0])
        peer.step(batches[0])
        ours, theirs = list[dict[str, float]](), list[dict[str, float]]()
        for indices in batches[1:]:
            ours.append(trainee.step(indices))
            theirs.append(peer.step(indices))
            say(f"{config.label}: {ours[-1]['step']:.3f} s; pymimir-rgnn: {theirs[-1]['step']:.3f} s")

    def timing(steps: list[dict[str, float]], part: str) -> Timing:
        return Timing(tuple(seconds[part] for seconds in steps))

    return Comparison(
        timing(ours, "step"),
        timing(theirs, "step"),
        timing(ours, "assembly"),
        timing(theirs, "assembly"),
        int(trainee.encoded.message_rows()[0]),
        peer.about["messages"],
        peer.about["versions"],
    )


def _draw(space: StateSpace, count: int, seed: int) -> list[int]:
    """Draw states that have a plan; one may come twice."""
    solvable = [state for state, distance in enumerate(space.distances) if distance >= 0]
    return random.Random(seed).choices(solvable, k=count)


def _atoms(space: StateSpace, state: int) -> list[list[str]]:
    """The atoms of a state by name, without the goal: what the peer builds its state from, and checks it against."""
    known = space.table
    varying = space.indices[space.offsets[state] : space.offsets[state + 1]]
    found = []
    for relation, arguments in (
        *zip(known.static_relation, known.static_arguments, strict=True),
        *zip(known.relation[varying], known.arguments[varying], strict=True),
    ):
        name, arity = known.relations[relation]
        if "@goal" not in name:
            objects = [] if arguments[0] == EVERY_OBJECT else [known.objects[index] for index in arguments[:arity]]
            found.append([name.removesuffix("@type"), *objects])
    return found


class _Trainee:
    """Trifold's side: a fresh model, and the states encoded once, as ``trifold train`` does."""

    def __init__(
        self, domain: str, space: StateSpace, states: list[int], targets: torch.Tensor, config: ModelConfig
    ) -> None:
        structures = space.structures().take(torch.tensor(states)).to(targets.device)
        self.encoded, self.targets = config.build_encoder()(structures), targets
        counts = dict(zip(self.encoded.signature.names, self.encoded.atom_counts.sum(1).tolist(), strict=True))
        model = Model.fresh(config, structures.signature, domain, counts, seed=0).to(targets.device)
        self.network = model.network.train()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=Settings().learning_rate)

    def step(self, indices: list[int]) -> dict[str, float]:
        """Seconds of one training step, as in ``trifold.training.step``, and of it those that assemble the batch."""
        chosen = torch.tensor(indices)
        start = time.perf_counter()
        structures = self.encoded.take(chosen)
        assembled = time.perf_counter()
        loss = (self.network(structures) - self.targets[chosen]).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if not loss.isfinite():  # on CUDA this waits for the card
            raise TrifoldError(f"trifold's loss is {loss}")
        return {"assembly": assembled - start, "step": time.perf_counter() - start}


class _Peer:
    """The peer's side: a child process that answers each line with a line."""

    def __init__(self, python: Path, job: dict[str, Any], errors: IO[str]) -> None:
        self.python, self.errors = python, errors
        script = Path(__file__).with_name("peer_step.py")
        self.process = subprocess.Popen(
            [python, "-W", "ignore", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
        )
        self.about = self._ask(job)

    def step(self, indices: list[int]) -> dict[str, float]:
        """Seconds of one training step, as the child measures them."""
        return self._ask(indices)

    def _ask(self, content: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        answer = ""
        with contextlib.suppress(BrokenPipeError):  # a child that has ended answers nothing
            self.process.stdin.write(json.dumps(content) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            status = self.process.wait()
            self.errors.seek(0)
            reason = (self.errors.read().strip() or "it says nothing").splitlines()[-1]
            raise TrifoldError(f"pymimir-rgnn ended with exit status {status}: {reason}", place=str(self.python))
        return dict(json.loads(answer))

    def __enter__(self) -> _Peer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.wait()
