"""The report of run folders and files of records, as a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.evaluation import Record, best_of_each, read_records, read_references, shorten
from trifold.pages import Report, Training, render_report
from trifold.reports.evaluations import Traces, tell_evaluations
from trifold.reports.lines import NAMES
from trifold.reports.places import Places
from trifold.words import counted


def report_page(
    *sources: Path | str,
    records: Sequence[Record] = (),
    references: Sequence[Path | str] = (),
    problems: Sequence[Path | str] = (),
    traces: int = 0,
    timeout: float | None = None,
    on_trace: Callable[[], None] | None = None,
) -> str:
    """The page of run folders, which say what was trained on and how, and of records, which say what policies did.

    sources     folders that `trifold train` made, and files that `trifold evaluate` wrote
    records     more of them, as `evaluate` returns them
    references  files that `trifold reference` wrote: plans are set against the best known, which is a shorter plan of
                the records where there is one
    problems    folders in which to look for the problems of failures
    traces      how many failures to follow again and to show step by step within the page, the smallest problems first
    timeout     seconds for each of these
    on_trace    called after each

    >>> from trifold import evaluate
    >>> done = evaluate("model.safetensors", "problem.pddl", records="records.jsonl")
    >>> report_page("records.jsonl")[:15]
    '<!doctype html>'
    """
    paths = [Path(source) for source in sources]
    if not paths and not records:
        raise TrifoldError("there is nothing to report", remedy="give run folders, or files of records, or both")
    files = [path for path in paths if not path.is_dir()]
    records = [*(record for file in files for record in read_records(file)), *records]
    if files and not records:
        raise TrifoldError("there are no records", place=", ".join(map(str, files)))
    best = best_of_each(one for file in references for one in read_references(Path(file)))
    trainings = _read_trainings([path for path in paths if path.is_dir()])
    places = Places(map(Path, problems))
    shown = Traces()
    if traces:
        from trifold.reports.traces import trace_failures  # which loads torch, and so do run folders: records need none

        shown = trace_failures(records, traces, places, timeout, on_trace)
    known = shorten(best, records) if references else None
    (heads, lines), evaluated = tell_evaluations(records, known, places, shown)
    title = _title([one.name for one in trainings], [one.domain for one in evaluated])
    return render_report(Report(title, trainings, evaluated, heads, lines, NAMES, tuple(shown.texts)))


def _read_trainings(folders: Sequence[Path]) -> tuple[Training, ...]:
    if not folders:
        return ()
    from trifold.reports.trainings import read_training

    return tuple(map(read_training, folders))


def _title(runs: Sequence[str], domains: Sequence[str]) -> str:
    """The names of few, and the numbers of many."""
    named = [
        ", ".join(names) if len(names) <= 2 else counted(len(names), noun)
        for names, noun in ((runs, "training"), (domains, "domain"))
        if names
    ]
    return f"Report on {' and '.join(named)}"
