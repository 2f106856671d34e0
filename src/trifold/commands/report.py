"""`trifold report`: trainings and what policies did, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trifold.commands import options
from trifold.commands.progress import progress_bar, when_interrupted
from trifold.commands.solve import check_files
from trifold.errors import TrifoldError

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN|RECORDS...", help="Folders that `trifold train` made, and files that `trifold evaluate` wrote."
    ),
]
References = Annotated[
    list[Path] | None,
    typer.Option("--references", help="Files that `trifold reference` wrote: show lengths over the best known."),
]
Problems = Annotated[
    list[Path] | None,
    typer.Option(
        "--problems", help="Folders with the problems that failed, if they are not where the records had them."
    ),
]
Traces = Annotated[
    int,
    typer.Option(
        "--traces", metavar="N", min=0, help="Follow N failures again, the smallest first, and show them in the page."
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")]


def report(
    sources: Sources,
    references: References = None,
    problems: Problems = None,
    traces: Traces = 0,
    timeout: options.Timeout = None,
    output: Output = Path("report.html"),
    plot: options.Plot = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a page about trainings and what policies did: one file that opens in any browser, offline.

    Of a run folder it shows what was trained on, the recipe and the curves. Of records it shows coverage, plan length
    and seconds against the number of objects, beside the best plans known and beside each other, and the failures,
    each with the command that shows it step by step, or, as --traces asks for, step by step in the page itself. Both
    may be given, in any number. --plot draws the curves of the trainings beside each other, for a paper; of records
    `trifold table --plot` draws the coverage.
    """
    from trifold.files import write_whole
    from trifold.reports import report_page

    check_files([], output)
    kind, runs = options.check_plot(plot), [source for source in sources if source.is_dir()]
    if plot is not None and not runs:
        raise TrifoldError("--plot draws trainings, and none is given", remedy="draw records by trifold table --plot")
    with when_interrupted("interrupted; no page was written"), progress_bar("traces", traces, quiet) as (bar, task):
        page = report_page(
            *sources,
            references=references or (),
            problems=problems or (),
            traces=traces,
            timeout=timeout,
            on_trace=lambda: bar.advance(task),
        )
    write_whole(output, page.encode())
    if plot is not None:
        from trifold.training import plot_trainings

        write_whole(plot, plot_trainings(runs, kind))
    typer.echo(f"{output}: {len(page.encode()) / 1e6:.2g} MB")
