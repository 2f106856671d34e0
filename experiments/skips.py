"""How many random numbers the rejected draws of the suite take: ``src/trifold/domains/suite_skips.json``.

    python experiments/skips.py > src/trifold/domains/suite_skips.json

Grid and Rovers draw a problem until it is as asked for, in some sizes thousands of times. The numbers of draws that are
rejected can be skipped where it is known how many they are. This is needed again only when the suite changes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

from trifold.domains import SEED, SPLITS, Task, grid, list_tasks, rovers, split_sizes
from trifold.domains.drawing import first_seed

DRAWS: dict[str, tuple[ModuleType, str]] = {"grid": (grid, "draw_doors"), "rovers": (rovers, "_draw_mission")}
"""The domains that reject draws, and the function that begins each draw."""

WORTH = 5_000
"""To draw fewer words than these takes no time that is worth saving."""


class Counting(random.Random):
    """Random numbers that count the 32-bit words that they take."""

    words = 0

    def getrandbits(self, k: int, /) -> int:
        self.words += (k + 31) // 32
        return super().getrandbits(k)

    def random(self) -> float:
        self.words += 2
        return super().random()


def count_skipped(task: Task) -> int:
    """The words that are taken before the draw that is kept."""
    module, name = DRAWS[task.domain]
    draw: Callable[..., Any] = getattr(module, name)
    begins = 0

    def noting(rng: Counting, *arguments: Any) -> Any:
        nonlocal begins
        begins = rng.words
        return draw(rng, *arguments)

    setattr(module, name, noting)
    try:
        module.generate(Counting(first_seed(task)), **task.options)
    finally:
        setattr(module, name, draw)
    return begins


def main() -> None:
    splits = [(name, split) for name in DRAWS for split in SPLITS]
    tasks = [task for name, split in splits for task in list_tasks(name, split_sizes(name, split), SEED, split)]
    skips = {first_seed(task): words for task in tasks if (words := count_skipped(task)) >= WORTH}
    print(json.dumps(skips))


if __name__ == "__main__":
    main()
