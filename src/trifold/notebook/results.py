"""What is found of domains and policies: tables, and their pictures."""

from __future__ import annotations

from trifold.analysis import Expressivity, plot_expressivity
from trifold.evaluation import Records, plot_coverage, summarise, table_cells
from trifold.notebook.markup import image, table, text
from trifold.words import counted


def show_records(records: Records) -> str:
    """The table of the records, and coverage over size."""
    if not records:
        return text("no records")
    rows = summarise(records)
    cells = table(counted(len(records), "record"), table_cells(rows), names=3)
    if all(record["objects"] is None for record in records):
        return cells
    return f"<div>{cells}{image(plot_coverage(records), 'Coverage over the number of objects')}</div>"


def show_expressivity(result: Expressivity) -> str:
    """What each architecture cannot tell apart."""
    cells = [["Architecture", "Messages", "States in conflict", "Least mean |V* − V|", "Layers that suffice"]]
    for one in result.findings:
        last = one.depths[-1]
        enough = "ruled out" if one.enough_rounds is None else f"{one.enough_rounds}"
        cells.append(
            [one.architecture, f"{one.messages:,.0f}", f"{last.conflicts:,}", f"{last.least_error:.3f}", enough]
        )
    best = (
        f"{result.advice[0].architecture} is the cheapest that is not ruled out" if result.advice else "all ruled out"
    )
    title = f"{result.domain}, {counted(result.states, 'state')} of {counted(result.problems, 'problem')}: {best}"
    picture = image(plot_expressivity(result, "svg"), "States in conflict and least errors over layers")
    return f"<div>{table(title, cells, names=1)}{picture}</div>"
