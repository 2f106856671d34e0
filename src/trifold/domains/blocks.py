"""Blocks: an arm moves blocks one at a time between the table and the tops of towers.

What ``blocks_m`` (Blocks-m, several towers in the goal) and ``blocks_s`` (Blocks-s, a single one) share. The public
files of the two differ in names too.

Every action can be undone, so the state space of one problem holds all placements of its blocks: 125 states for 4
blocks, then 866, 7,057, 65,990, 695,417 for 8, and 8,145,730 for 9. The suite trains on 4 to 9 blocks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from math import comb, factorial

from trifold.domains.problem import problem_text

Tower = list[str]
"""The blocks of a tower, from the table upwards."""


@dataclass(frozen=True)
class Vocabulary:
    """The names in which the public files of Blocks-m and Blocks-s differ."""

    domain: str
    on_table: str
    arm_empty: str


def block_names(blocks: int) -> list[str]:
    """Name the blocks; as the public goals hold ``on`` atoms alone, they need two blocks."""
    if blocks < 2:
        raise ValueError(f"Blocks needs at least 2 blocks, not {blocks}")
    return [f"b{number}" for number in range(1, blocks + 1)]


def towers_text(words: Vocabulary, blocks: list[str], start: list[Tower], goal: list[Tower]) -> str:
    """Write the problem of rebuilding the towers of the start, with the arm empty, into those of the goal."""
    return problem_text(
        f"{words.domain}-{len(blocks)}",
        domain=words.domain,
        objects=blocks,
        init=[
            words.arm_empty,
            *[f"{words.on_table} {tower[0]}" for tower in start],
            *on_atoms(start),
            *[f"clear {tower[-1]}" for tower in start],
        ],
        goal=on_atoms(goal),
    )


def draw_towers(rng: random.Random, blocks: list[str]) -> list[Tower]:
    """Draw one of the placements of n blocks, each with the same probability.

    There are n! · C(n−1, k−1) / k! placements with k towers: the orders of the blocks, cut at k−1 of n−1 places,
    where the k! orders of the towers are one placement. So draw k with that weight, then an order and the cuts.
    """
    n = len(blocks)
    weights = [comb(n - 1, k - 1) / factorial(k) for k in range(1, n + 1)]
    count = rng.choices(range(1, n + 1), weights)[0]
    order = rng.sample(blocks, n)
    cuts = [0, *sorted(rng.sample(range(1, n), count - 1)), n]
    return [order[low:high] for low, high in pairwise(cuts)]


def on_atoms(towers: list[Tower]) -> list[str]:
    """List the atoms on(upper, lower) of neighbours in the towers."""
    return [f"on {upper} {lower}" for tower in towers for lower, upper in pairwise(tower)]
