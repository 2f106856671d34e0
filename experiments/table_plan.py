"""What the trainings of the table cost, roughly, and how they fit into a card that is lent for a while at a time.

Milliseconds a step are measured where they were (docs/kernels.md, and the records of what was trained: seconds over
steps), and elsewhere those of R-GNN[1] in the domain times what the architecture costs relative to it where that was
measured. They are of one H200 that trains one model, and nobody's promise: a training ends with its minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cells import Cell, refusal

PAIRS = {
    "blocks-s": 3.1,
    "blocks-m": 7.8,
    "gripper": 5.0,  # a small network: half of what k = 32, L = 30 takes (experiments/tried.md)
    "miconic": 23.3,
    "visitall": 13.6,
    "grid": 19.1,
    "logistics": 4.3,  # docs/kernels.md
    "rovers": 9.6,  # docs/kernels.md
    "vacuum": 27.1,
    "visitall-xy": 15.5,
    "navig-xy": 10.9,
}
"""Milliseconds a step of R-GNN[1] by the recipe of each domain; where nothing else is said, seconds over steps of the
records, what a training does between its steps included."""

RELATIVE = {
    "rgnn": 0.3,  # Logistics: 86 seconds where R-GNN[1] takes 285
    "rgnn0": 0.55,  # and R-GNN[0] 156
    "rgnn1": 1.0,
    "rgnn2": 2.0,  # Blocks and Visitall: 1.2 to 1.7 times R-GNN₂, beside others
    "compositions": 1.25,  # Blocks-s: 3.90 ms
    "2gnn": 1.2,  # Blocks-s: 3.64 ms
    "et": 1.2,  # Blocks-s: 3.2 ms (docs/kernels.md); beside others as long as R-GNN[2]
}
"""What a step of each architecture costs, that of R-GNN[1] being 1."""

SHARED = 0.25
"""How much slower a training is for each other beside it, with MPS: 13 at once took 1.5 to 6 times as long as alone,
but for the smallest, whose steps wait for their launches. Of twelve at once, most of them over all pairs, each took 50
to 140 ms, and so did ET: 40 times as long as alone. Without, 4.25 ms are 2 × 3.23 and 3 × 2.77 side by side.
"""

START = 60.0
"""Seconds in which a training, or one that goes on, loads its labels and compiles its kernels, and in which it ends."""

COMMAND, LEASE = 560.0, 1800.0
"""Seconds of a command on a lent card, of ten minutes with time to end in, and of the lease."""


@dataclass(frozen=True)
class Cost:
    """What a training takes: seconds without its start, and how many of the steps of its recipe fit."""

    cell: Cell
    milliseconds: float
    seconds: float
    steps: int
    of_steps: int


def cost_of(cell: Cell, minutes: float, at_once: int) -> Cost:
    """The rough cost of a cell that is trained beside others."""
    from trifold.training import read_recipe

    settings = read_recipe(f"{cell.domain}-values", {}).settings
    alone = PAIRS[cell.domain] * RELATIVE[cell.architecture.name]
    milliseconds = alone * (1 + SHARED * (at_once - 1))
    seconds = min(60 * minutes, settings.steps * milliseconds / 1000)
    return Cost(cell, milliseconds, seconds, round(1000 * seconds / milliseconds), settings.steps)


def schedule(costs: Sequence[Cost], at_once: int) -> list[list[tuple[Cost, bool]]]:
    """What each command trains, in the order of the table, and whether it ends there or goes on in the next command."""
    left = [(cost, cost.seconds) for cost in costs]
    commands = []
    while left:
        taken: list[tuple[Cost, bool]] = []
        cut: list[tuple[Cost, float]] = []
        free = [COMMAND] * at_once
        while left and max(free) > START:
            slot = free.index(max(free))
            cost, seconds = left.pop(0)
            ends = START + seconds <= free[slot]
            taken.append((cost, ends))
            if not ends:
                cut.append((cost, seconds + START - free[slot]))
            free[slot] -= START + seconds
        left = cut + left
        commands.append(taken)
    return commands


def print_plan(cells: Sequence[Cell], minutes: float, at_once: int) -> None:
    """Print what each cell costs, and in which command of which lease it may be trained."""
    costs = [cost_of(cell, minutes, at_once) for cell in cells if not refusal(cell)]
    print(f"{'cell':26} {'ms a step':>9} {'steps':>15} {'seconds':>8}")
    for cost in costs:
        steps = f"{cost.steps:,} of {cost.of_steps:,}"
        print(f"{cost.cell!s:26} {cost.milliseconds:9.1f} {steps:>15} {cost.seconds:8.0f}")
    print()
    commands = schedule(costs, at_once)
    for number, trained in enumerate(commands):
        lease, command = divmod(number, int(LEASE // COMMAND))
        names = ", ".join(f"{cost.cell}{'' if ends else ' …'}" for cost, ends in trained)
        print(f"lease {lease + 1}, command {command + 1}: {names}")
    total = sum(cost.seconds for cost in costs)
    print(f"\n{len(costs)} trainings of {total / 60:.0f} minutes in all, {len(commands)} commands")
