"""The child's side of isolation: read jobs as JSON lines, call the function, write results as JSON lines."""

from __future__ import annotations

import contextlib
import importlib
import json
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from trifold.errors import TrifoldError
from trifold.files import mendable
from trifold.memory import lacks_memory
from trifold.outcomes import Outcome
from trifold.plugins import load_plugins
from trifold.processes.child import die_with_parent, take_pipes


def main(function: str, memory: str, parent: str) -> None:
    """Do jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    die_with_parent(int(parent))
    jobs, answers = take_pipes()

    def send(kind: str, content: dict[str, Any]) -> None:
        answers.write(json.dumps([kind, content]) + "\n")
        answers.flush()

    for line in jobs:
        send("started", {})
        start = time.perf_counter()
        result = _run(function, json.loads(line), lambda event: send("event", event), memory)
        unit = 2**30 if sys.platform == "darwin" else 2**20  # bytes there, kilobytes elsewhere
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        send("result", result | {"seconds": time.perf_counter() - start, "peak_gib": peak})


def _run(function: str, job: dict[str, Any], report: Callable[[dict[str, Any]], None], memory: str) -> dict[str, Any]:
    """Call the function and name how it ended."""
    try:
        with _memory_limit(memory):
            load_plugins()
            module, _, name = function.partition(":")
            value = getattr(importlib.import_module(module), name)(job, report)
            json.dumps(value)
            return {"outcome": Outcome.FINISHED, "value": value, "message": ""}
    except BaseException as error:
        if lacks_memory(error):
            message = f"more than {int(memory) / 2**30:g} GiB" if memory else "the machine has no more memory"
            return {"outcome": Outcome.MEMORY_LIMIT, "value": None, "message": message}
        known = mendable(error, "use this file") if isinstance(error, OSError) else error
        if isinstance(known, TrifoldError):
            about = {"message": known.message, "place": known.place, "remedy": known.remedy}
            return {"outcome": Outcome.BAD_INPUT, "value": about, "message": str(known)}
        last = traceback.format_exception_only(error)[-1].strip()
        return {"outcome": Outcome.CRASH, "value": None, "message": last}


@contextlib.contextmanager
def _memory_limit(memory: str) -> Any:
    """Bound the address space, but not while the outcome is reported."""
    if not memory:
        yield
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = int(memory) if hard == resource.RLIM_INFINITY else min(int(memory), hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    main(*sys.argv[1:])
