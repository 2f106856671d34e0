"""Planning domains that Trifold can generate problems for: one file each, with the domain's PDDL beside it.

>>> print(DOMAINS["gripper"].problem(random.Random(0), 2, start="classic").splitlines()[0])
(define (problem gripper-2)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path

from trifold.domains import blocks, gripper

__all__ = ["DOMAINS", "Domain", "domain_text", "write_problems"]


@dataclass(frozen=True)
class Domain:
    """A domain and its generator: ``generate(rng, **{size_parameter: size})`` is the text of a problem."""

    name: str
    description: str
    generate: Callable[..., str]
    size_parameter: str

    def problem(self, rng: random.Random, size: int, **options: str) -> str:
        """Generate a problem of a size; options are those of the domain's own ``generate``."""
        return self.generate(rng, **{self.size_parameter: size}, **options)


DOMAINS = {
    "blocks-m": Domain("blocks-m", "build several towers of blocks", blocks.generate, "blocks"),
    "blocks-s": Domain("blocks-s", "build one tower of all blocks", partial(blocks.generate, towers="one"), "blocks"),
    "gripper": Domain("gripper", "carry balls to another room with two grippers", gripper.generate, "balls"),
}


def domain_text(name: str) -> str:
    """Read the PDDL of a domain of ``DOMAINS``."""
    return files(__name__).joinpath(f"{DOMAINS[name].name}.pddl").read_text(encoding="utf-8")


def write_problems(
    directory: Path,
    name: str,
    sizes: Iterable[int],
    seed: int,
    *,
    per_size: int = 1,
    split: str = "train",
    **options: str,
) -> list[Path]:
    """Write ``domain.pddl``, and ``per_size`` problems of each size in the folder ``split``; return their paths.

    Each problem has its own random numbers, seeded by its domain, seed, split, size and index. So a file stays
    the same whatever is written beside it, and the splits of one seed are drawn independently of each other.
    """
    domain = DOMAINS[name]
    folder = Path(directory) / split
    folder.mkdir(parents=True, exist_ok=True)
    (Path(directory) / "domain.pddl").write_text(domain_text(name), encoding="utf-8")
    paths = []
    for size in sizes:
        for index in range(per_size):
            rng = random.Random(f"{name}/{seed}/{split}/{size}/{index}")
            path = folder / f"{name}-{size:02d}-{index:02d}.pddl"
            path.write_text(domain.problem(rng, size, **options), encoding="utf-8")
            paths.append(path)
    return paths
