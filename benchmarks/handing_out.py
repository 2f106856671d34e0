"""How many jobs a second child processes of this machine do, and a Ray cluster, beside each other in one run.

    ray start --head --num-cpus 4 --disable-usage-stats --include-dashboard=false
    python benchmarks/handing_out.py [--cluster auto] [--workers 1 2 4] [--jobs 400] [--nap 0.2]

Jobs that do nothing show what handing one out costs, jobs that sleep whether workers are kept busy, whatever cores
there are. The two take turns, round by round, and the median of the rounds counts. Children and seats are started
before the clock is. The overhead of a job is what a worker of the cluster takes for it beyond one of this machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from instance import note
from trifold.bench.timing import conditions
from trifold.cluster import Cluster, join_cluster
from trifold.errors import TrifoldError
from trifold.evaluation import aligned_text
from trifold.processes import Limits, run_isolated

HEADER = ["jobs", "workers", "jobs / s here", "jobs / s on the cluster", "of it", "overhead of a job"]
LIMITS = Limits(memory_gib=1.0)
ROUNDS = 3


def nap(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The job: sleep for some seconds, or none."""
    time.sleep(job["seconds"])
    return {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", default="auto", help="auto, or host:port of the head (default: auto)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="(default: 1 2 4)")
    parser.add_argument("--jobs", type=int, default=400, help="jobs that do nothing (default: 400)")
    parser.add_argument("--nap", type=float, default=0.2, help="seconds that the others sleep (default: 0.2)")
    arguments = parser.parse_args()
    rows = [HEADER]
    try:
        with join_cluster(arguments.cluster) as cluster:
            for workers in arguments.workers:
                cluster.most = workers
                sleepers = max(1, round(5 * workers / max(arguments.nap, 0.01)))
                for seconds, count in ((0.0, arguments.jobs), (arguments.nap, sleepers)):
                    rows.append(compare(cluster, workers, seconds, count))
                    note("  ".join(rows[-1]))
    except TrifoldError as error:
        note(str(error))
        raise SystemExit(error.exit_code) from None
    print(f"{conditions()}\n{aligned_text(rows, names=1)}", end="")


def compare(cluster: Cluster, workers: int, seconds: float, count: int) -> list[str]:
    """The line of jobs that sleep so long."""
    here, there = [], []
    for _ in range(ROUNDS):
        here.append(rate(workers, workers, seconds, count))
        there.append(rate(cluster, workers, seconds, count))
    local, far = median(here), median(there)
    overhead = 1000 * workers * (1 / far - 1 / local)
    what = f"sleep {seconds:g} s" if seconds else "nothing"
    return [what, str(workers), f"{local:.1f}", f"{far:.1f}", f"{far / local:.0%}", f"{overhead:.1f} ms"]


def rate(workers: int | Cluster, count: int, seconds: float, jobs: int) -> float:
    """Jobs a second, from the first that ends on: so many as there are workers are given before, to start them."""
    ended = []
    first = [{"seconds": 0.5}] * count  # long enough that each worker gets one
    for result in run_isolated(
        "handing_out:nap", [*first, *[{"seconds": seconds}] * jobs], workers=workers, limits=LIMITS
    ):
        if result.error:
            raise result.error
        ended.append(time.perf_counter())
    return jobs / (ended[-1] - ended[count - 1])


if __name__ == "__main__":
    main()
