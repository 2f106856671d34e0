"""What is registered of a domain: its PDDL, and how problems of it are generated."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Literal

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

Options = dict[str, int | str]
"""The keyword options of a domain's ``generate``: how large a problem is, and of which kind."""

Counts = Mapping[int | tuple[int | str, ...], int]
"""Size → how many problems: a size is the first option of a domain's ``generate``, or several, in their order."""


@dataclass(frozen=True)
class Generator:
    """A planning domain whose problems can be generated.

    pddl      the text of the domain
    generate  ``generate(rng, **options)`` is the text of a problem; options have defaults, and the first is the size
    picture   an instance, drawn in text
    suite     split → size → how many problems; or ``suite(split)``, the options of each problem of a split; None: it
              has no splits of its own

    >>> lamps = Generator("lamps", "", "", lambda rng, *, lamps=3, lit=0: "", suite={"train": {2: 1, (3, 1): 2}})
    >>> lamps.sizes("train")
    [{'lamps': 2}, {'lamps': 3, 'lit': 1}, {'lamps': 3, 'lit': 1}]
    """

    name: str
    description: str
    pddl: str
    generate: Callable[..., str]
    picture: str = ""
    suite: Callable[[Split], list[Options]] | Mapping[Split, Counts] | None = None

    @property
    def sentence(self) -> str:
        """The description as a sentence."""
        return f"{self.description[0].upper()}{self.description[1:]}."

    @property
    def options(self) -> dict[str, Parameter]:
        """The keyword options of ``generate``, each with its type and default; the first is the size of a problem."""
        _, *options = signature(self.generate, eval_str=True).parameters.values()
        return {option.name: option for option in options}

    def sizes(self, split: Split) -> list[Options]:
        """The options of each problem of a split; none if the domain has no such split."""
        if self.suite is None:
            return []
        if not isinstance(self.suite, Mapping):
            return self.suite(split)
        return [
            dict(zip(self.options, size if isinstance(size, tuple) else (size,), strict=False))
            for size, count in self.suite.get(split, {}).items()
            for _ in range(count)
        ]

    def problem(self, rng: random.Random, size: int, **options: int | str) -> str:
        """Generate a problem of a size; further options are those of the domain's own ``generate``."""
        return self.generate(rng, **{next(iter(self.options)): size}, **options)


def describe_sizes(problems: Sequence[Options]) -> str:
    """Say between which values the options of some problems lie.

    >>> describe_sizes([{"balls": 3, "start": "random"}, {"balls": 1, "start": "random"}])
    'balls 1–3, start random'
    """
    names = dict.fromkeys(name for options in problems for name in options)
    return ", ".join(f"{name} {span([options[name] for options in problems if name in options])}" for name in names)


def span(values: Iterable[int | str]) -> str:
    """Show the least and the greatest of some numbers, or all of some words."""
    distinct = list(dict.fromkeys(values))
    numbers = sorted(value for value in distinct if isinstance(value, int))
    if len(numbers) > 1:
        return f"{numbers[0]}–{numbers[-1]}"
    return " or ".join(map(str, distinct))
