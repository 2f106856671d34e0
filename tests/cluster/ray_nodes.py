"""Nodes of a Ray cluster on this machine, for tests: a script of its own, so that no test imports Ray.

It starts a head with the CPUs that its argument says, and writes its address. A line `add CPUS` starts a node and
answers with its number, a line `kill NUMBER` kills all processes of that node (0 is the head), and the end of the input
ends all of them.
"""

from __future__ import annotations

import os
import sys
from typing import Any

MIB = 2**20
TRIES = 3


def main() -> None:
    """Do what the lines say until there are no more."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_period_ms": "500"}
    os.environ |= {"RAY_raylet_start_wait_time_s": "40"}
    from ray.cluster_utils import Cluster

    options: dict[str, int | bool] = {"object_store_memory": 80 * MIB, "memory": 8192 * MIB, "include_dashboard": False}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Ray says is no answer
    lean = {"no_monitor": True, "include_log_monitor": False}  # nobody asks for more nodes, or reads logs
    cluster: Any = Cluster(initialize_head=True, head_node_args=options | lean | {"num_cpus": int(sys.argv[1])})
    nodes = [cluster.head_node]
    print(cluster.address, file=answers, flush=True)
    try:
        for line in sys.stdin:
            word, number = line.split()
            if word == "add":
                nodes.append(add(cluster, options | {"num_cpus": int(number)}))
            else:
                nodes[int(number)].kill_all_processes(check_alive=False, allow_graceful=False)
            print(len(nodes) - 1, file=answers, flush=True)
    finally:
        cluster.shutdown()


def add(cluster: Any, options: dict[str, int | bool]) -> Any:
    """Start a node; one whose processes do not start in 15 seconds ends, which may be for a busy machine alone."""
    for _ in range(TRIES - 1):
        try:
            return cluster.add_node(**options)
        except Exception as error:
            print(error, file=sys.stderr)
    return cluster.add_node(**options)


if __name__ == "__main__":
    main()
