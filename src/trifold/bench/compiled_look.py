"""One look at a large state by the compiled library, timed: what a step of `trifold solve` costs on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from trifold.bench.floors import Floor
from trifold.bench.report import Measurement
from trifold.bench.stages import Bench
from trifold.errors import TrifoldError
from trifold.files import temporary_folder
from trifold.model import Model, NativeModel
from trifold.native import obstacle
from trifold.pddl import Problem

TOLERANCE = 1e-3
"""How far scores may differ, relative to the largest."""


def time_compiled_look(
    bench: Bench, model: Model, problem: Problem, actions: Sequence[str], floor: Floor, least: Floor
) -> list[Measurement]:
    """The rows of a look by the compiled library: with all layers, and with one of them.

    The latter is little more than encoding, merging and the heads: what encoding a state from the last one could save.
    """
    row = partial(Measurement, "policy step", states=1)
    what, state = f"q of {len(actions)} actions, compiled", problem.initial_state
    native = _as_native(model)
    if native is None:
        return [row(what, note=obstacle() or f"not for {model.config.label}, which torch runs")]
    check_scores(native.look(state, actions)[1], model.look(state, actions)[1])
    one = NativeModel(replace(native.header, config=replace(native.header.config, layers=1)), native.weights)
    whole, first = (bench.time(partial(each.look, state, actions)) for each in (native, one))
    return [row(what, whole, floor=floor, least=least), row("  the same with one layer", first)]


def _as_native(model: Model) -> NativeModel | None:
    with temporary_folder() as folder:
        file = Path(folder) / "model.safetensors"
        model.save(file)
        return NativeModel.load(file)


def check_scores(found: Sequence[float], expected: Sequence[float]) -> None:
    """Raise unless two forms of the network score actions alike, as far as float32 can tell."""
    pair = torch.tensor([found, expected], dtype=torch.float64)
    difference = float((pair[0] - pair[1]).abs().max() / pair[1].abs().max().clamp(min=1e-6)) if len(found) else 0.0
    if not difference <= TOLERANCE:
        raise TrifoldError(f"two forms of the network score actions differently, by {difference:.1e} of the largest")
