"""Nodes of a Ray cluster on this machine, for tests: a script of its own, so that no test imports Ray.

It starts a head with the CPUs that its argument says, and writes its address. A line `add CPUS` starts a node and
answers with its number, a line `kill NUMBER` kills all processes of that node (0 is the head), and the end of the input
ends all of them.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import ExitStack
from typing import Any

MIB = 2**20

PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
"""Of processes of a node that choose them if they are not given, for which the node waits 15 seconds and then ends."""


def main() -> None:
    """Do what the lines say until there are no more."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_period_ms": "500"}
    os.environ |= {"RAY_raylet_start_wait_time_s": "200"}  # on a busy machine
    from ray.cluster_utils import Cluster

    options: dict[str, int | bool] = {"object_store_memory": 80 * MIB, "memory": 8192 * MIB, "include_dashboard": False}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Ray says is no answer
    lean = {"no_monitor": True, "include_log_monitor": False}  # nobody asks for more nodes, or reads logs
    cluster: Any = Cluster(
        initialize_head=True, head_node_args=options | lean | ports() | {"num_cpus": int(sys.argv[1])}
    )
    nodes = [cluster.head_node]
    print(cluster.address, file=answers, flush=True)
    try:
        for line in sys.stdin:
            word, number = line.split()
            if word == "add":
                nodes.append(cluster.add_node(num_cpus=int(number), **options, **ports()))
            else:
                nodes[int(number)].kill_all_processes(check_alive=False, allow_graceful=False)
            print(len(nodes) - 1, file=answers, flush=True)
    finally:
        cluster.shutdown()


def ports() -> dict[str, int]:
    """Free ports for a node."""
    with ExitStack() as stack:
        sockets = {name: stack.enter_context(socket.create_server(("", 0))) for name in PORTS}
        return {name: one.getsockname()[1] for name, one in sockets.items()}


if __name__ == "__main__":
    main()
