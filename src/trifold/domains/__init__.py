"""Planning domains that Trifold can generate problems for: one file each, with the domain's PDDL beside it.

>>> print(DOMAINS["gripper"].problem(random.Random(0), 2, start="classic").splitlines()[0])
(define (problem gripper-2)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import Literal

from trifold.domains import (
    blocks_m,
    blocks_s,
    grid,
    gripper,
    logistics,
    miconic,
    navig_xy,
    rovers,
    vacuum,
    visitall,
    visitall_xy,
)

__all__ = ["DOMAINS", "SPLITS", "Domain", "Options", "Split", "domain_text", "write_problems"]

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

Options = dict[str, int | str]
"""The keyword options of a domain's ``generate``: how large a problem is, and of which kind."""


@dataclass(frozen=True)
class Domain:
    """A domain and its generator.

    picture   an instance, drawn in text
    generate  ``generate(rng, **options)`` is the text of a problem
    suite     ``suite(split)`` are the options of each problem of a split of the suite ``paper``
    """

    name: str
    description: str
    picture: str
    generate: Callable[..., str]
    suite: Callable[[Split], list[Options]]

    @property
    def sentence(self) -> str:
        """The description as a sentence."""
        return f"{self.description[0].upper()}{self.description[1:]}."

    @property
    def options(self) -> dict[str, Parameter]:
        """The keyword options of ``generate``, each with its type and default; the first is the size of a problem."""
        _, *options = signature(self.generate, eval_str=True).parameters.values()
        return {option.name: option for option in options}

    def problem(self, rng: random.Random, size: int, **options: int | str) -> str:
        """Generate a problem of a size; further options are those of the domain's own ``generate``."""
        return self.generate(rng, **{next(iter(self.options)): size}, **options)


_MODULES = {
    "blocks-s": blocks_s,
    "blocks-m": blocks_m,
    "gripper": gripper,
    "miconic": miconic,
    "visitall": visitall,
    "grid": grid,
    "logistics": logistics,
    "rovers": rovers,
    "vacuum": vacuum,
    "visitall-xy": visitall_xy,
    "navig-xy": navig_xy,
}
DOMAINS = {
    name: Domain(name, module.DESCRIPTION, module.PICTURE, module.generate, module.suite)
    for name, module in _MODULES.items()
}
"""All domains of the paper, in its order."""


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
    **options: int | str,
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
