"""One step of the policies on a large problem, timed: V of all successors of its initial state, or one look at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from trifold.bench.compiled_look import time_compiled_look
from trifold.bench.floors import Floor, floor_of_bytes, floor_of_work
from trifold.bench.machine import Machine
from trifold.bench.recording import record_work
from trifold.bench.report import Measurement, duration
from trifold.bench.scatter import rgnn_of, scattered_values
from trifold.bench.stages import Bench
from trifold.bench.timing import Timing, timed
from trifold.bench.work import Work, count_work
from trifold.encoders import encode_chunks
from trifold.errors import TrifoldError
from trifold.model import HeadedNetwork, Model
from trifold.nn import PRECISIONS
from trifold.pddl import Problem
from trifold.structures import Structures, concatenate

TOLERANCE = 1e-3
"""How far two forms of the network may differ, relative to the largest value."""


def time_policy_step(bench: Bench, model: Model, problem: Problem) -> tuple[list[Measurement], dict[str, Any]]:
    """The rows of a policy step, whole and in parts, and its sizes.

    The network is timed as planning runs it, which need not do all of Algorithm 1; beside it, on the same structures,
    the reference, which does, in the form that training differentiates; and the same by unsorted scatters.
    """
    machine, network = bench.machine, model.network.eval()
    states = list(dict.fromkeys(state for _, state in problem.successors(problem.initial_state)))
    if not states:
        raise TrifoldError("the initial state has no successors", place=problem.name, remedy="use another --problem")

    def encode() -> list[Structures]:
        return list(encode_chunks(model.encoder, problem.structures(states).to(machine.device), model.backend.max_rows))

    @torch.no_grad()
    def evaluate() -> Tensor:
        return torch.cat([model.encoded_values(chunk) for chunk in chunks])

    @torch.no_grad()
    def refer() -> Tensor:
        return torch.cat([network(chunk) for chunk in chunks])

    notes = model.check(problem)
    chunks = encode()
    encoding = bench.time(encode, warm_up=False)
    successors = bench.time(lambda: problem.successors(problem.initial_state))
    evaluation, values = _time_long(bench, evaluate)
    reference, expected = _time_long(bench, refer)
    check_equal(values, expected)
    whole = bench.time(lambda: model.values(states), warm_up=False)

    together = concatenate(chunks)
    work, hoisted = count_work(network, together), count_work(network, together, hoisted=True)
    precision = PRECISIONS["split"] if model.backend.halves else "ieee"  # as it is evaluated
    floor, least = (floor_of_work(counted, machine, training=False, precision=precision) for counted in (work, hoisted))
    done = None
    if model.backend.name in ("cpu", "reference"):  # torch's products; what our own kernels do, it does not count
        done = floor_of_work(record_work(evaluate), machine, training=False)
        notes.append(f"{done.flops / floor.flops:.1%} of the products of Algorithm 1 as written were computed")
    row = partial(Measurement, "policy step", states=len(states))
    network_row, full_row = partial(row, floor=floor, least=least, done=done), partial(row, floor=floor, least=least)
    scattered = _time_scatter(bench, network, chunks, expected)
    against = scattered and ("scatter", scattered)
    parts = _parts(work, floor, machine, network.embed.dim)
    rows = [
        network_row("V of all successors", whole, note="; ".join(notes)),
        row("  of it encoding", encoding, floor=floor_of_bytes(sum(chunk.nbytes for chunk in chunks), machine)),
        network_row("  of it network", evaluation, against=against),
        full_row("network, reference", reference, against=against, note=parts),
        *([full_row("network, unsorted scatter", scattered)] if scattered else []),
        row("successors", successors),
    ]
    sizes = {"objects": len(problem.objects), "successors": len(states)}
    sizes |= {"elements": int(together.element_counts.sum()), "message rows": int(together.message_rows().sum())}
    return rows, sizes


def time_look(bench: Bench, model: Model, problem: Problem) -> list[Measurement]:
    """The rows of a step by scores of actions, whole and in parts: V of one state, and q of all its actions."""
    machine, state = bench.machine, problem.initial_state
    actions = [action for action, _ in problem.successors(state)]
    structure, _ = model.ask([state], [actions])
    encoded = model.queried(structure.to(machine.device))
    network = model.network.eval()
    precision = PRECISIONS["split"] if model.backend.halves else "ieee"
    floor, least = (
        floor_of_work(count_work(network, encoded, hoisted=hoisted), machine, training=False, precision=precision)
        for hoisted in (False, True)
    )
    row = partial(Measurement, "policy step", states=1)
    network_row = partial(row, floor=floor)
    part = "without a graph, " if model.backend.captured else "  of it "
    rows = [
        network_row(f"q of {len(actions)} actions", bench.time(lambda: model.look(state, actions))),
        row(
            f"{part}encoding the state",
            bench.time(lambda: model.queried(structure.to(machine.device))),
            floor=floor_of_bytes(encoded.nbytes, machine),
        ),
        network_row(f"{part}network, the state", bench.time(lambda: model.read(encoded))),
    ]
    if machine.device.type == "cpu":
        rows += time_compiled_look(bench, model, problem, actions, floor, least)
    return rows


def _time_scatter(
    bench: Bench, network: HeadedNetwork, chunks: Sequence[Structures], expected: Tensor
) -> Timing | None:
    """The timing of an R-GNN by unsorted scatters, after a look at its values; of other networks None."""
    if rgnn_of(network) is None:
        return None

    @torch.no_grad()
    def scatter() -> Tensor:
        return torch.cat([scattered_values(network, chunk) for chunk in chunks])

    timing, found = _time_long(bench, scatter)
    check_equal(found, expected)
    return timing


def _time_long(bench: Bench, function: Callable[[], Tensor]) -> tuple[Timing, Tensor]:
    """The timing of what may take minutes on a CPU, and its value: a first call that is long enough is the only one."""
    if bench.machine.device.type == "cuda":
        function()  # which compiles kernels
    seconds, value = timed(function)
    return (Timing((seconds,)) if seconds > bench.seconds else bench.time(function)), value


def _parts(work: Work, floor: Floor, machine: Machine, dim: int) -> str:
    """How long the parts of all of Algorithm 1 take at the machine's rates."""
    parts = {
        "products": floor.products,
        "Mish": work.mish / machine.mish(training=False),
        "gathers": work.rows / machine.gather(dim),
        "two segment reductions": 2 * work.rows / machine.segment_sum(dim),
    }
    return "at measured rates " + ", ".join(f"{part} {duration(seconds)}" for part, seconds in parts.items())


def check_equal(values: Tensor, expected: Tensor) -> None:
    """Raise unless two forms of the network give the same values, as far as float32 can tell."""
    difference = float((values - expected).abs().max() / expected.abs().max().clamp(min=1e-6))
    if not difference <= TOLERANCE:
        raise TrifoldError(f"two forms of the network differ by {difference:.1e} of the largest value")
