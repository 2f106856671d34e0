"""Trifold's commands in forks of a process that has everything loaded: a hundredth of a second to start, not two.

A command's own children are forks as well. All that a command and its children write goes to files, and whatever they
do, the process that asked goes on.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from typer.testing import CliRunner

from trifold.commands import app, main
from trifold.processes import isolation, worker

MODULES = (
    "matplotlib", "pymimir.advanced.datasets", "pymimir.advanced.search", "rich.progress",
    "safetensors.numpy", "safetensors.torch", "torch._dynamo", "trifold.analysis", "trifold.data",
    "trifold.evaluation.campaign", "trifold.evaluation.comparison", "trifold.evaluation.first_plan",
    "trifold.evaluation.job", "trifold.model", "trifold.pddl.expansion", "trifold.processes.worker",
    "trifold.shipped", "trifold.studies", "trifold.training",
)  # fmt: skip
"""What commands and their children import late: torch._dynamo, which takes seconds, where an optimizer steps first."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (negative: the signal), what it wrote, and whether it had to be stopped."""

    code: int
    output: str
    errors: str
    is_stopped: bool
    seconds: float


def load_everything() -> None:
    """Import what commands and their children import, and keep the garbage collector from copying it in each fork."""
    for name in MODULES:
        importlib.import_module(name)
    torch.set_num_threads(1)
    CliRunner().invoke(app, ["label", "/nowhere"])  # typer imports more when a command is called
    gc.freeze()
    atexit.register(gc.unfreeze)  # or nanobind would complain of what is left at the end


def run_in_fork(arguments: Sequence[str], folder: Path, seconds: float, outputs: Path | None = None) -> Ended:
    """Run a command in the folder, in a fork of this process; what it says goes to files in outputs, or the folder."""
    child = fork()
    if not child:
        _be_the_command(arguments, folder, outputs or folder)
    return _wait(child, outputs or folder, seconds)


def fork() -> int:
    """Fork, although there may be threads: none of ours holds a lock that a command or a worker takes."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        return os.fork()


def run_for_real(arguments: Sequence[str], folder: Path, seconds: float) -> Ended:
    """Run a command in the folder, as a user would."""
    with (folder / "stdout").open("wb") as output, (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "trifold", *arguments],
            cwd=folder,
            env=os.environ | _environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
    process.returncode = 0  # it is waited for below
    return _wait(process.pid, folder, seconds)


def _environment(folder: Path) -> dict[str, str]:
    return {"TRIFOLD_CACHE": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}


def _wait(child: int, folder: Path, seconds: float) -> Ended:
    start, is_stopped = time.monotonic(), False
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() - start > seconds and not is_stopped:
            is_stopped = True
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.005)
    output, errors = ((folder / name).read_bytes().decode(errors="replace") for name in ("stdout", "stderr"))
    return Ended(os.waitstatus_to_exitcode(status), output, errors, is_stopped, time.monotonic() - start)


def _be_the_command(arguments: Sequence[str], folder: Path, outputs: Path) -> None:
    """Become the command; this does not return."""
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        if outputs == folder:
            os.environ.update(_environment(folder))
        for number, name in ((0, os.devnull), (1, outputs / "stdout"), (2, outputs / "stderr")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8") for number in (1, 2))  # noqa: SIM115
        vars(isolation)["subprocess"] = FORKS
        sys.argv = ["trifold", *arguments]
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _forked_worker(arguments: Sequence[str], **options: Any) -> Any:
    """``subprocess.Popen`` for the children of isolation, by a fork; anything else is started as usual."""
    if "trifold.processes.worker" not in arguments:
        return subprocess.Popen(arguments, **options)
    function, *others = arguments[arguments.index("trifold.processes.worker") + 1 :]
    importlib.import_module(function.partition(":")[0])  # once, in this process, and not in each fork
    return ForkedWorker([function, *others], options)


class ForkedWorker:
    """The child's side of isolation in a fork: as much of ``subprocess.Popen`` as isolation uses."""

    def __init__(self, arguments: Sequence[str], options: dict[str, Any]) -> None:
        child_input, parent_input = os.pipe()
        parent_output, child_output = os.pipe()
        self.returncode: int | None = None
        self.pid = fork()
        if not self.pid:
            self._work(arguments, child_input, child_output, options)
        os.close(child_input)
        os.close(child_output)
        self.stdin = os.fdopen(parent_input, "wb", buffering=0)
        self.stdout = os.fdopen(parent_output, "rb", buffering=0)

    def _work(self, arguments: Sequence[str], inlet: int, outlet: int, options: dict[str, Any]) -> None:
        """Become the worker; this does not return."""
        code = 1
        try:
            for number, end in ((0, inlet), (1, outlet), (2, options["stderr"].fileno())):
                os.dup2(end, number)
            os.closerange(3, 256)
            worker.main(*arguments)
            code = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def poll(self) -> int | None:
        return self._wait(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        code = self._wait(0)
        assert code is not None
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _wait(self, flags: int) -> int | None:
        if self.returncode is None:
            found, status = os.waitpid(self.pid, flags)
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


FORKS = SimpleNamespace(**vars(subprocess) | {"Popen": _forked_worker})
"""The module ``subprocess`` for isolation: its children are forks of this process."""
