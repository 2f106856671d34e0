"""Records of attempts: one flat JSON object per instance, appended to a file of lines.

An interrupted run may leave its last line torn. A torn line is known by how every record begins, so it is skipped
wherever it stands, the next append starts on a line of its own, and a file of anything else is refused.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from trifold.files import MOST_BYTES, open_file
from trifold.lines import append_line, read_lines
from trifold.outcomes import Outcome
from trifold.provenance import spell_command
from trifold.sealed import Damaged, fill

SCHEMA = 1

T = TypeVar("T")


class Attempted(TypedDict):
    """What every record says of one attempt at one problem. None: the attempt did not live to say it."""

    schema: int  # first, so that a torn line can be told from a foreign one
    timestamp: str  # UTC, at the end of the attempt
    model: str  # such as R-GNN[1], or LAMA
    model_path: str  # as it was given: a path, or the name of a shipped model
    model_sha256: str
    domain: str
    domain_sha256: str | None  # None: the domain that the model carries
    problem: str  # the name of the file
    problem_sha256: str
    objects: int | None
    policy: str  # one of `trifold.planning.POLICIES`, "module:function", or "first plan": no policy but a planner
    max_steps: int
    timeout: float | None  # seconds, everything included
    memory_gib: float | None  # of address space
    device: str  # as asked for; it is part of the settings
    device_used: str
    outcome: str  # a `trifold.outcomes.Outcome`
    message: str | None  # why, where the outcome does not say it all
    warnings: str | None  # what a reader should know, joined by "; "
    plan_length: int | None  # None: not solved
    steps: int  # taken before the attempt ended
    initial_value: float | None  # V of the initial state
    states_evaluated: int | None
    seconds: float  # the whole attempt, parsing included, and loading for the first in a process
    seconds_per_step: float | None  # of the policy alone
    trifold_version: str
    torch_version: str
    pymimir_version: str
    python_version: str


class Record(Attempted, total=False):
    """One attempt, and where it and its model come from. None, or no field in older records: it is not known.

    Of `search`, `max_states` and `improve`, None or no field is: not asked for. Older records are of policies alone.
    """

    search: str | None  # what follows a policy that ends without a plan: as `policy`
    max_states: int | None  # that the search, and the improvement of a plan, may know
    improve: float | None  # seconds in which a plan is made shorter
    found_by: str | None  # the policy or the search that the way is of
    found_length: int | None  # of the plan before it was made shorter, if it was
    states_known: int | None  # by the search in the end
    peak_gib: float | None  # the most memory that its process has had, attempts before this one included
    command: str | None  # that made the record
    hardware: str | None  # that the attempt ran on: the accelerator, or else the processor
    training_command: str | None  # the fields of `trifold.provenance.Origin`
    training_seed: int | None
    training_seeds: int | None
    training_steps: int | None
    training_seconds: float | None
    training_validation_loss: float | None
    training_data: str | None
    training_problems: int | None
    training_states: int | None
    training_hardware: str | None
    training_versions: str | None


class Records(list[Record]):
    """Records in their order: a list, that a notebook shows as a table."""


OLD_POLICIES = {"unvisited": "values"}
"""Policies that older records have under another name."""

INSTANCE_FIELDS = ("problem", "problem_sha256")
SEARCH_FIELDS = ("search", "max_states", "improve")
SETTING_FIELDS = (
    *("model_sha256", "domain_sha256", "policy", "max_steps", *SEARCH_FIELDS, "timeout", "memory_gib", "device"),
)


def attempt_key(record: Record | dict[str, Any]) -> tuple[object, ...]:
    """What makes two attempts the same: the instance, the model and the settings."""
    return tuple(record.get(field) for field in (*SETTING_FIELDS, *INSTANCE_FIELDS))


def settles(record: Record, asked: dict[str, Any]) -> bool:
    """Whether a record is of what is asked, and need not be done again: a crash may be luck."""
    return attempt_key(record) == attempt_key(asked) and record["outcome"] != Outcome.CRASH


def last_of_each(records: Iterable[Record]) -> list[Record]:
    """The last record of each attempt, in the order in which attempts first appear."""
    return list({attempt_key(record): record for record in records}.values())


def file_sha256(file: Path, most_bytes: int = MOST_BYTES) -> str:
    """The hash of a file's content; one that cannot be read is the user's to mend."""
    with open_file(file, most_bytes) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def command_line() -> str:
    """The command that is running."""
    return spell_command(sys.argv)


def append_record(path: Path, record: Record) -> None:
    """Append one line, durably: it is on the disk when this returns."""
    assert next(iter(record)) == "schema"
    append_line(path, dict(record))


def read_records(path: Path) -> list[Record]:
    """All whole records of a file, in order; torn lines are left out, anything else is refused."""
    records = read_typed_lines(path, Record, SCHEMA, "evaluate")
    for record in records:
        record["policy"] = OLD_POLICIES.get(record["policy"], record["policy"])
    return records


def read_typed_lines(path: Path, kind: type[T], schema: int, command: str) -> list[T]:
    """All whole lines of a file that a command appends to, in order, each a TypedDict of this kind."""
    name = kind.__name__.lower()

    def check(values: dict[str, Any]) -> T:
        version = values.get("schema")
        if type(version) is int and version != schema:
            raise Damaged(f"it is of version {version}, this Trifold reads {schema}")
        if missing := kind.__required_keys__ - values.keys():  # type: ignore[attr-defined]
            raise Damaged(f"it has no {', '.join(sorted(missing))}")
        return fill(kind, values)

    remedy = f"name a file that `trifold {command}` wrote, or run that again, into a new file"
    return read_lines(path, "schema", check, what=f"a {name} that can be read", remedy=remedy)
