"""The cells of the paper's whole table: a domain, an architecture, and why some have no number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from trifold.domains import PAPER, domain_text
from trifold.errors import TrifoldError
from trifold.evaluation.records import read_typed_lines
from trifold.expressions import Source
from trifold.outcomes import Outcome

REASONS = "reasons.jsonl"
"""The file beside the sets of a folder of results that says why cells have no number."""

SCHEMA = 1


@dataclass(frozen=True)
class Architecture:
    """A column of the table: its name in the paper, in folders, and what it changes in the recipe of a domain."""

    label: str
    name: str
    settings: tuple[str, ...] = ()


ARCHITECTURES = (
    Architecture("R-GNN", "rgnn", ("encoder=plain",)),
    Architecture("R-GNN[0]", "rgnn0", ("t=0",)),
    Architecture("R-GNN[1]", "rgnn1"),
    Architecture("R-GNN[2]", "rgnn2", ("t=2",)),
    Architecture("R-GNN₂", "compositions", ("encoder=compositions", "dim=32")),
    Architecture("2-GNN", "2gnn", ("encoder=oblivious",)),
    Architecture("ET", "et", ("encoder=marks", "learning_rate=2e-4")),
)
"""The columns. R-GNN₂ has k = 32, as in the paper, and ET the paper's learning rate: at 1e-3, where all others learn
faster, it stood still in five of seven domains. The first three have the names that ``paper.toml`` gives them."""

SMALL_BATCH = ("batch=16", "learning_rate=5e-4")
"""What changes where a step of the recipe's batch takes more than 8 GiB, and a dozen trainings share a card."""
HEAVY = {
    "rgnn2": ("miconic", "grid", "rovers", "vacuum", "visitall-xy"),
    "compositions": ("miconic", "visitall", "grid", "logistics", "rovers", "vacuum", "visitall-xy"),
    "2gnn": ("miconic", "visitall", "grid", "logistics", "visitall-xy"),
    "et": ("grid",),
}
"""By architecture, the domains where it does: most states are compositions of all pairs there."""


@dataclass(frozen=True)
class Cell:
    """An architecture in a domain."""

    domain: str
    architecture: Architecture

    def __str__(self) -> str:
        return f"{self.domain}-{self.architecture.name}"

    @property
    def settings(self) -> tuple[str, ...]:
        """What it changes in the recipe of the domain: what the architecture says counts."""
        texts = (*(SMALL_BATCH if self.is_heavy else ()), *self.architecture.settings)
        changes = dict(text.split("=") for text in texts)
        return tuple(f"{key}={value}" for key, value in changes.items())

    @property
    def is_heavy(self) -> bool:
        """Whether a step of the recipe's batch takes too much of a card that others share."""
        return self.domain in HEAVY.get(self.architecture.name, ())

    @property
    def key(self) -> tuple[str, str]:
        """What it is called in records and in the paper's rows: domain and model."""
        return self.domain, self.architecture.label


CELLS = tuple(Cell(domain, architecture) for domain in PAPER for architecture in ARCHITECTURES)
"""All cells, row by row."""


class Reason(TypedDict):
    """Why a cell has no number, or not all of its problems."""

    schema: int  # first, so that a torn line can be told from a foreign one
    timestamp: str  # UTC
    domain: str
    model: str
    stage: str  # "train", or "evaluate" and the policy
    outcome: str  # a `trifold.outcomes.Outcome`
    message: str
    command: str | None  # None: nothing had to be run to know


def refusal(cell: Cell) -> str | None:
    """Why an architecture cannot read a domain: what its encoder says of the arities. None: it can."""
    from trifold.encoders import ENCODERS
    from trifold.pddl.description import describe_domain
    from trifold.structures import Signature

    settings = dict(text.split("=") for text in cell.architecture.settings)
    relations = describe_domain(Source(domain_text(cell.domain), cell.domain)).relations
    try:
        ENCODERS[settings.get("encoder", "pairs")](float(settings.get("t", 1))).signature(Signature.of(relations))
    except TrifoldError as error:
        return error.message
    return None


def read_reasons(file: Path) -> dict[tuple[str, str], list[Reason]]:
    """The last reason of each stage, by domain and model; none if there is no such file."""
    reasons: dict[tuple[str, str], dict[str, Reason]] = {}
    for one in read_typed_lines(file, Reason, SCHEMA, "evaluate") if file.exists() else ():
        reasons.setdefault((one["domain"], one["model"]), {})[one["stage"]] = one
    return {key: list(stages.values()) for key, stages in reasons.items()}


def outcome_of(code: int) -> Outcome:
    """How a command ended that failed, by its exit code."""
    return next((end for end in (Outcome.MEMORY_LIMIT, Outcome.BAD_INPUT) if end.exit_code == code), Outcome.CRASH)


def choose_cells(domains: Iterable[str], names: Iterable[str]) -> Sequence[Cell]:
    """The cells of some domains and architectures, of all if none is named."""
    wanted, columns = set(domains), set(names)
    return [
        cell
        for cell in CELLS
        if cell.domain in (wanted or PAPER) and (not columns or cell.architecture.name in columns)
    ]
