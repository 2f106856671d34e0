"""Blocks: an arm moves blocks one at a time between the table and the tops of towers.

Two benchmarks share this generator: in Blocks-m the goal is several towers, in Blocks-s a single one of all
blocks, and each has the names of its public files. A training set must cover blocks that are well placed, blocks
that must move although they are on the right one, and held blocks; for several towers, also goals of few and of
many towers, and blocks that no goal atom names. Every action can be undone, so the state space of one problem
holds all placements: what a training set must vary is the number of blocks and, for several towers, the goal. (All
single towers of a size are alike up to the names of the blocks: one problem of each size has it all.)
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from math import comb, factorial
from typing import Literal

from trifold.domains.problem import problem_text

Tower = list[str]
"""The blocks of a tower, from the table upwards."""


@dataclass(frozen=True)
class Vocabulary:
    """The names in which the public files of Blocks-m and Blocks-s differ."""

    domain: str
    on_table: str
    arm_empty: str


VOCABULARIES = {
    "many": Vocabulary(domain="blocksworld-4ops", on_table="on-table", arm_empty="arm-empty"),
    "one": Vocabulary(domain="BLOCKS", on_table="ontable", arm_empty="handempty"),
}


def generate(rng: random.Random, *, blocks: int, towers: Literal["many", "one"] = "many") -> str:
    """Generate a problem that is solvable and not solved at the start.

    towers="many"  start and goal are any placements, drawn uniformly, as in Blocks-m
    towers="one"   the goal is a single tower of all blocks, as in Blocks-s

    As in the public files, the goal names only ``on`` atoms, so a goal needs at least two blocks.
    """
    if blocks < 2:
        raise ValueError(f"Blocks needs at least 2 blocks, not {blocks}")
    if towers not in VOCABULARIES:
        raise ValueError(f'towers must be "many" or "one", not {towers!r}')
    words = VOCABULARIES[towers]
    names = [f"b{number}" for number in range(1, blocks + 1)]
    start: list[Tower] = []
    goal: list[str] = []
    while set(goal) <= set(on_atoms(start)):  # also while the goal is empty: all blocks on the table
        start = draw_towers(rng, names)
        goal = on_atoms(draw_towers(rng, names) if towers == "many" else [rng.sample(names, blocks)])
    return problem_text(
        f"{words.domain}-{blocks}",
        domain=words.domain,
        objects=names,
        init=[
            words.arm_empty,
            *[f"{words.on_table} {tower[0]}" for tower in start],
            *on_atoms(start),
            *[f"clear {tower[-1]}" for tower in start],
        ],
        goal=goal,
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
