"""Running jobs into records: whatever is asked of many problems, it is recorded once, and can be continued."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from trifold.evaluation.records import Record, append_record, file_sha256
from trifold.files import in_turn, make_folder
from trifold.provenance import VERSION

R = TypeVar("R", bound=Mapping[str, Any])

Run = Callable[[list[Path]], Generator[tuple[Path, dict[str, Any]], None, None]]
"""Does what is asked of some problems; yields each, as it is done, with the fields of its record that it has found."""


def run_recorded(
    problems: Sequence[Path | str],
    asked: dict[str, Any],
    run: Run,
    *,
    kind: type[R],
    read: Callable[[Path], list[R]],
    settles: Callable[[R, dict[str, Any]], bool],
    records: Path | str,
    on_record: Callable[[R, bool], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[R]:
    """Do what is asked of each problem, unless it is recorded, and return one record per problem, in their order.

    Each new record is appended to the file `records` as soon as its problem is done. Who uses the same file takes
    turns: `on_wait` is called before this one waits for another. `on_record` is called with each record and whether it
    is new: first for the old ones, then as problems are done.

    asked    the fields of every record that are known beforehand
    kind     of record: the fields of the schema, in its order
    read     gives the records of the file
    settles  whether a record of a problem, beside what is now asked of it, makes it needless to run it again
    """
    records, files = Path(records), list(dict.fromkeys(map(Path, problems)))
    asked = asked | {"python_version": platform.python_version()}
    asked |= {f"{package}_version": version(package) for package in ("torch", "pymimir")}
    asked |= {"trifold_version": VERSION}
    of_each = {file: asked | {"problem": file.name, "problem_sha256": file_sha256(file)} for file in files}
    make_folder(records.parent)
    with in_turn(records, on_wait):
        recorded: dict[str, list[R]] = defaultdict(list)
        for record in read(records):
            recorded[record["problem_sha256"]].append(record)
        found: dict[Path, R] = {}
        for file, fields in of_each.items():
            last_first = reversed(recorded[fields["problem_sha256"]])
            if known := next((record for record in last_first if settles(record, fields)), None):
                found[file] = known
                if on_record:
                    on_record(known, False)
        with closing(run([file for file in files if file not in found])) as done:
            for file, answer in done:
                fields = of_each[file] | {"timestamp": datetime.now(UTC).isoformat(timespec="seconds")} | answer
                found[file] = cast(R, {field: fields[field] for field in kind.__annotations__})
                append_record(records, cast(Record, found[file]))  # it begins as a record does; no more is asked of it
                if on_record:
                    on_record(found[file], True)
        return [found[file] for file in files]
