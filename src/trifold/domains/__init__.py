"""Planning domains that Trifold can generate problems for: one file each, with the domain's PDDL beside it.

>>> import random
>>> print(DOMAINS["gripper"].problem(random.Random(0), 2, start="classic").splitlines()[0])
(define (problem gripper-2)

A domain of your own needs its PDDL, and a function that writes a problem from random numbers and options; nothing in
this package has to be changed for it:

>>> def draw(rng: random.Random, *, lamps: int = 3) -> str:
...     names = [f"lamp{number}" for number in range(lamps)]
...     return problem_text("lamps", domain="lamps", objects=names, init=[], goal=[f"on {name}" for name in names])
>>> own = Generator("lamps", "switch lamps on", "(define (domain lamps) …)", draw)
>>> print(own.problem(random.Random(0), 2).splitlines()[2])
  (:objects lamp0 lamp1)

Once it is in ``DOMAINS``, as ``DOMAINS["lamps"] = own``, it can be used by its name like any other: ``generate`` draws
and writes its problems, of which no two are alike but for the names of objects (``certificate`` tells). A whole
one is in docs/own-domain.md. The suite ``paper`` stays what it is: the splits of the domains in ``PAPER``.
"""

from trifold.domains.catalogue import DOMAINS, PAPER, domain_text
from trifold.domains.drawing import (
    SEED,
    Draft,
    Drawn,
    Task,
    draw_problems,
    draw_splits,
    drawn_for,
    list_tasks,
    split_sizes,
)
from trifold.domains.generator import SPLITS, Counts, Generator, Options, Split, describe_sizes, span
from trifold.domains.isomorphism import certificate, read_structure
from trifold.domains.problem import problem_text
from trifold.domains.suite import (
    frozen_hashes,
    generate,
    split_texts,
    text_hashes,
    write_problems,
    write_suite,
    write_texts,
)

__all__ = [
    "DOMAINS",
    "PAPER",
    "SEED",
    "SPLITS",
    "Counts",
    "Draft",
    "Drawn",
    "Generator",
    "Options",
    "Split",
    "Task",
    "certificate",
    "describe_sizes",
    "domain_text",
    "draw_problems",
    "draw_splits",
    "drawn_for",
    "frozen_hashes",
    "generate",
    "list_tasks",
    "problem_text",
    "read_structure",
    "span",
    "split_sizes",
    "split_texts",
    "text_hashes",
    "write_problems",
    "write_suite",
    "write_texts",
]
