"""Who does the jobs of a command: child processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from trifold.cluster import Cluster


@contextmanager
def hired(cluster: str | None, workers: int | None, shared: Path | None, quiet: bool) -> Iterator[Cluster | int]:
    """The workers that --cluster, --workers and --shared ask for together, as long as the command needs them."""
    if cluster is None:
        if shared is not None:
            raise typer.BadParameter("--shared is of a --cluster: without one, all files are here")
        from trifold.processes import available_cores

        yield workers or available_cores()
        return
    from trifold.cluster import join_cluster

    def tell(notice: str) -> None:
        if not quiet:
            typer.echo(notice, err=True)

    with join_cluster(cluster, most=workers, shared=shared, on_notice=tell) as crew:
        yield crew
