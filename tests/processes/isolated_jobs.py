"""Functions that the isolation tests run in child processes: each ends in its own way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

from trifold.errors import TrifoldError


def run(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    match job["do"]:
        case "double":
            return {"value": 2 * job["value"]}
        case "pid":
            return {"pid": os.getpid()}
        case "sleep":
            report({"pid": os.getpid()})
            time.sleep(job["seconds"])
        case "tell":
            while True:
                report({})
        case "raise":
            raise ValueError("one\ntwo")
        case "error":
            raise TrifoldError("wrong", place="here", remedy="mend it")
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(3)
        case "load":
            raise ImportError("lib.so: failed to map segment from shared object")
        case "open":
            open("/no/such/file")  # noqa: SIM115
        case "memory":
            return {"length": len(bytearray(2**33))}
        case "print":
            os.write(1, b"not json\n")
            print("nor this")
        case "object":
            return {"value": object()}
    return {}
