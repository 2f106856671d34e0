"""Blocks-m: rebuild towers of blocks into several others; the arm and the state spaces are those of ``blocks``.

A training set must cover blocks that are well placed, blocks that must move although they are on the right one, held
blocks, goals of few and of many towers, and blocks that no goal atom names. Start and goal are drawn uniformly from all
placements, which gives all of these. The state space of a problem holds all placements, so what a training set must
vary is the number of blocks and the goal. Of small placements few are tall, though, and problems of the tests' sizes
have goals with towers of up to 14 blocks: a network trained on towers of 7 at most solved all problems with goal towers
of up to 9 and none with taller ones. With a fifth of the states in problems of one tower it solved those of 12 blocks
and not those of 13; Blocks-s's network, which sees nothing else, all of them. So about half are such.

A goal and its number of blocks are a state space, up to names. Training has nearly all goals of 4 and 5 blocks and all
of one tower, so validation has others of 6 to 9.
"""

from __future__ import annotations

import random
from typing import Literal

from trifold.domains.blocks import Vocabulary, block_names, draw_towers, on_atoms, towers_text

DESCRIPTION = "build several towers of blocks"
PICTURE = """\
      |_|
[b2]                              [b4]
[b1]  [b4]  [b5]           [b5]   [b2]
[b3]  [b6]  [b7]    goal:  [b1]   [b3]
----------------           -----------"""

WORDS = Vocabulary(domain="blocksworld-4ops", on_table="on-table", arm_empty="arm-empty")


def generate(rng: random.Random, *, blocks: int = 5, tallest: int = 2) -> str:
    """Generate a problem that is solvable and not solved at the start: any placement into any other, drawn uniformly.

    tallest  the tallest tower of the goal has at least so many blocks

    As in the public files, the goal names only ``on`` atoms.
    """
    names = block_names(blocks)
    if not 2 <= tallest <= blocks:
        raise ValueError(f"the tallest tower has between 2 and all {blocks} blocks, not {tallest}")
    start, goal = draw_towers(rng, names), draw_towers(rng, names)
    while max(map(len, goal)) < tallest or set(on_atoms(goal)) <= set(on_atoms(start)):
        start, goal = draw_towers(rng, names), draw_towers(rng, names)
    return towers_text(WORDS, names, start, goal)


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The options of each problem of the suite ``paper``; the tests have the sizes of the public files."""
    match split:
        case "train":
            sizes = [*[4] * 8, *[5] * 10, *[6] * 10, *[7] * 8, 8, 9]
            single = [4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8, 9, 9]
            tall = [(6, 5), (7, 6), (8, 6), (8, 7), *((blocks, blocks) for blocks in single)]
        case "validation":
            sizes, tall = [*[6] * 3, *[7] * 7, *[8] * 2, 9], [(8, 5), (8, 5), (9, 7)]
        case "test":
            sizes, tall = [blocks for blocks in range(10, 21) for _ in range(2)], []
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')
    any_goal: list[dict[str, int | str]] = [{"blocks": blocks} for blocks in sizes]
    return any_goal + [{"blocks": blocks, "tallest": tallest} for blocks, tallest in tall]
