"""The planning problem that a benchmark runs on: a generated one, or any file."""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from trifold.domains import DOMAINS, domain_text
from trifold.expressions import Source, open_source


@dataclass(frozen=True)
class Instance:
    """A problem as PDDL text, with the name that reports give it."""

    name: str
    domain: Source
    problem: Source


def add_instance_options(parser: argparse.ArgumentParser, domain: str, size: int) -> None:
    """Add ``--problem`` and ``--domain``; without them, the problem is generated at this size."""
    parser.set_defaults(generated=(domain, size))
    parser.add_argument("--problem", type=Path, help=f"a PDDL problem (default: {domain} of size {size}, generated)")
    parser.add_argument("--domain", type=Path, help="its PDDL domain (default: domain.pddl beside it or one folder up)")


def read_instance(arguments: argparse.Namespace) -> Instance:
    """The problem that the options name, or the generated one, which is the same in every run."""
    if arguments.problem is None:
        name, size = arguments.generated
        text = DOMAINS[name].problem(random.Random(0), size)
        domain = Source(domain_text(name), "the generated domain")
        return Instance(f"{name}-{size}, generated", domain, Source(text, "the generated problem"))
    folders = (arguments.problem.parent, arguments.problem.parent.parent)
    beside = next((folder / "domain.pddl" for folder in folders if (folder / "domain.pddl").is_file()), None)
    domain_path = arguments.domain or beside
    if domain_path is None:
        raise SystemExit("there is no domain.pddl beside the problem or one folder up: give --domain")
    return Instance(
        arguments.problem.name, open_source(domain_path, "domain"), open_source(arguments.problem, "problem")
    )


def note(text: str) -> None:
    """Say what is going on, apart from the result."""
    print(text, file=sys.stderr, flush=True)
