"""Blocks-s: rebuild towers of blocks into a single one; the arm and the state spaces are those of ``blocks``.

A training set must cover blocks that are well placed, blocks that must move although they are on the right one, and
held blocks. All single towers of a size are alike up to the names of the blocks, and the state space of a problem
holds all placements: one problem of each size has it all. The problems of a size differ in their start alone. So
validation, which must not have states of training, has other sizes. Of 10 blocks there are too many states to label, so
it has 2 and 3.
"""

from __future__ import annotations

import random
from typing import Literal

from trifold.domains.blocks import Vocabulary, block_names, draw_towers, on_atoms, towers_text

DESCRIPTION = "build one tower of all blocks"
PICTURE = """\
                           [b1]
      |_|                  [b3]
[b2]                       [b5]
[b1]  [b4]                 [b2]
[b3]  [b5]          goal:  [b4]
----------                 ----"""

WORDS = Vocabulary(domain="BLOCKS", on_table="ontable", arm_empty="handempty")


def generate(rng: random.Random, *, blocks: int = 5) -> str:
    """Generate a problem that is solvable and not solved at the start: any placement, drawn uniformly, into a tower.

    As in the public files, the goal names only ``on`` atoms.
    """
    names = block_names(blocks)
    start, goal = draw_towers(rng, names), [rng.sample(names, blocks)]
    while set(on_atoms(goal)) <= set(on_atoms(start)):
        start, goal = draw_towers(rng, names), [rng.sample(names, blocks)]
    return towers_text(WORDS, names, start, goal)


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The options of each problem of the suite ``paper``; the tests have the sizes of the public files."""
    match split:
        case "train":
            sizes = [*[4] * 6, *[5] * 6, *[6] * 6, *[7] * 3, 8, 9]
        case "validation":
            sizes = [2, 3]
        case "test":
            sizes = [*[10] * 3, *[11] * 3, *[blocks for blocks in range(12, 17) for _ in range(2)], 17]
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')
    return [{"blocks": blocks} for blocks in sizes]
