"""One training step, against pymimir-rgnn in its own environment, on the same states.

    python benchmarks/training_step.py --peer-python PATH [--problem P --domain D] [--pairs-runs N] [--json]

A step is: assemble the batch, forward, mean |V* − V|, backward, Adam. One thread on each side, and the sides take
turns: one waits while the other computes. README.md beside this file says how to make the peer's environment.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from instance import Instance, add_instance_options, read_instance
from measurement import Timing, conditions, lines, note, table, use_one_thread

from trifold.model import Model, ModelConfig
from trifold.pddl import StateSpace, expand
from trifold.pddl.atoms import EVERY_OBJECT
from trifold.pddl.text import normalise
from trifold.structures import Structures

MAX_STATES = 1_000_000
LEARNING_RATE = 2e-4
PEER_ENCODERS = {"plain": "plain", "pairs": "expressive"}
"""Trifold's encoder → the peer's that is nearest."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_instance_options(parser, "gripper", 5)
    parser.add_argument("--peer-python", type=Path, required=True, help="the Python of the peer's environment")
    parser.add_argument("--plain-runs", type=int, default=20, help="measured steps of R-GNN; 0 leaves it out")
    parser.add_argument("--pairs-runs", type=int, default=3, help="measured steps of R-GNN[1]; 0 leaves it out")
    parser.add_argument("--dim", type=int, default=64, help="k (default: 64)")
    parser.add_argument("--layers", type=int, default=30, help="L (default: 30)")
    parser.add_argument("--batch", type=int, default=16, help="states in a batch (default: 16)")
    parser.add_argument("--seed", type=int, default=0, help="which states are drawn (default: 0)")
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    if not arguments.peer_python.is_file():
        parser.error(f"there is no Python at {arguments.peer_python}: README.md says how to make the environment")
    use_one_thread()
    instance = read_instance(arguments)
    space = expand(instance.domain, instance.problem, MAX_STATES)

    results: list[Comparison] = []
    for encoder, runs in (("plain", arguments.plain_runs), ("pairs", arguments.pairs_runs)):
        if runs:
            config = ModelConfig(encoder=encoder, dim=arguments.dim, layers=arguments.layers)
            states = draw(space, (1 + runs) * arguments.batch, arguments.seed)
            results.append(compare(instance, space, states, config, arguments.batch, arguments.peer_python))

    about = {"problem": instance.name, "objects": len(space.objects), "states": len(space)}
    about |= {"k": arguments.dim, "L": arguments.layers, "batch": arguments.batch}
    about |= conditions("trifold", "pymimir", "torch")
    if results:
        about |= {f"{package} (peer)": number for package, number in results[0].peer_versions.items()}
    if arguments.json:
        comparisons = [result.to_json() for result in results]
        print(json.dumps({"benchmark": "training_step", "about": about, "comparisons": comparisons}, indent=2))
        return
    print(lines(about))
    header = ["seconds a step", "steps", "median", "min", "max", "assembly", "messages", "peer / trifold"]
    print("\n" + table(header, [row for result in results for row in result.rows()]))


@dataclass(frozen=True)
class Comparison:
    """Steps of one of Trifold's networks and of the peer's nearest.

    our_assembly, their_assembly  the part of each step that assembles the batch
    our_messages, their_messages  how many messages a layer sends in the first state
    """

    config: ModelConfig
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

    def rows(self) -> list[list[str]]:
        runs = str(len(self.ours.seconds))
        peer = f"pymimir-rgnn, {PEER_ENCODERS[self.config.encoder]}"
        assemblies = [f"{timing.median:.3f}" for timing in (self.our_assembly, self.their_assembly)]
        return [
            [f"trifold, {self.config.label}", runs, *self.ours.cells(), assemblies[0], f"{self.our_messages:,}", ""],
            [peer, runs, *self.theirs.cells(), assemblies[1], f"{self.their_messages:,}", f"{self.ratio:.2f}"],
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "trifold": self.config.label,
            "peer": PEER_ENCODERS[self.config.encoder],
            "ratio": self.ratio,
            "trifold_step": self.ours.to_json(),
            "peer_step": self.theirs.to_json(),
            "trifold_assembly": self.our_assembly.to_json(),
            "peer_assembly": self.their_assembly.to_json(),
            "trifold_messages": self.our_messages,
            "peer_messages": self.their_messages,
        }


def compare(
    instance: Instance, space: StateSpace, states: list[int], config: ModelConfig, batch: int, peer_python: Path
) -> Comparison:
    """Measure steps in turns, each on its own batch of these states. The first one warms both sides up, uncounted."""
    targets = [float(space.distances[state]) for state in states]
    job = {
        "domain": normalise(instance.domain.text),
        "problem": normalise(instance.problem.text),
        "states": [atoms(space, state) for state in states],
        "targets": targets,
        "encoder": PEER_ENCODERS[config.encoder],
        "dim": config.dim,
        "layers": config.layers,
        "learning_rate": LEARNING_RATE,
    }
    trainee = Trainee(instance, space.structures().take(torch.tensor(states)), torch.tensor(targets), config)
    with Peer(peer_python, job) as peer:
        if (peer.about["objects"], peer.about["threads"]) != (len(space.objects), 1):
            raise SystemExit(f"the peer differs: {peer.about}")
        batches = [list(range(start, start + batch)) for start in range(0, len(states), batch)]
        trainee.step(batches[0])
        peer.step(batches[0])
        ours, theirs = [], []
        for indices in batches[1:]:
            ours.append(trainee.step(indices))
            theirs.append(peer.step(indices))
            note(f"{config.label}: {ours[-1]['step']:.3f} s; pymimir-rgnn: {theirs[-1]['step']:.3f} s")

    def timing(steps: list[dict[str, float]], part: str) -> Timing:
        return Timing(tuple(seconds[part] for seconds in steps))

    return Comparison(
        config,
        timing(ours, "step"),
        timing(theirs, "step"),
        timing(ours, "assembly"),
        timing(theirs, "assembly"),
        int(trainee.encoded.message_rows()[0]),
        peer.about["messages"],
        peer.about["versions"],
    )


def draw(space: StateSpace, count: int, seed: int) -> list[int]:
    """Draw states that have a plan; one may come twice."""
    solvable = [state for state, distance in enumerate(space.distances) if distance >= 0]
    return random.Random(seed).choices(solvable, k=count)


def atoms(space: StateSpace, state: int) -> list[list[str]]:
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


class Trainee:
    """Trifold's side: a fresh model, and the states encoded once, as ``trifold train`` does."""

    def __init__(self, instance: Instance, states: Structures, targets: torch.Tensor, config: ModelConfig) -> None:
        self.encoded, self.targets = config.build_encoder()(states), targets
        counts = dict(zip(self.encoded.signature.names, self.encoded.atom_counts.sum(1).tolist(), strict=True))
        model = Model.fresh(config, states.signature, instance.domain.text, counts, seed=0)
        self.network = model.network.train()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE)

    def step(self, indices: list[int]) -> dict[str, float]:
        """Seconds of one training step, as in ``trifold.training.loop``."""
        chosen = torch.tensor(indices)
        start = time.perf_counter()
        structures = self.encoded.take(chosen)
        assembled = time.perf_counter()
        loss = (self.network(structures) - self.targets[chosen]).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        end = time.perf_counter()
        if not torch.isfinite(loss):
            raise SystemExit(f"trifold's loss is {loss}")
        return {"assembly": assembled - start, "step": end - start}


class Peer:
    """The peer's side: a child process that answers each line with a line."""

    def __init__(self, python: Path, job: dict[str, Any]) -> None:
        script = Path(__file__).with_name("peer_step.py")
        self.process = subprocess.Popen(
            [python, "-W", "ignore", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
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
            raise SystemExit(f"the peer ended with {self.process.wait()}")
        return json.loads(answer)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    main()
