"""A leash on a command: it ends in time, and with whoever holds the leash, and takes all its processes with it.

This is a script for a process of its own, which needs the standard library only. The holder keeps the other end of its
standard input open: when that closes, because the holder let go or was killed in whatever way, the command's process
group is killed and its folder is removed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

TIMEOUT = "timeout"
ERRORS = "errors.txt"


def run_on_leash(command: list[str], folder: Path, seconds: float) -> int | None:
    """Run the command in the folder and return its exit status, or None if it was stopped at the limit.

    What it writes to its standard error is in the folder's errors.txt. No process of its group is left.
    """
    leash = [sys.executable, "-I", __file__, str(folder), str(seconds), *command]
    with subprocess.Popen(leash, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        answer = process.stdout.read()  # communicate() would close the input, and that is the leash
    return None if answer == TIMEOUT else int(answer)


def main(folder: str, seconds: str, *command: str) -> None:
    """Run the command, and write its exit status, or that the time was over."""
    with open(Path(folder, ERRORS), "wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # its group is then its own, and has its number
        )

    def wait_for_the_holder() -> None:
        sys.stdin.buffer.read()
        kill_group()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    def kill_group() -> None:
        with suppress(ProcessLookupError, PermissionError):  # they have all ended; macOS says the latter of zombies
            os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=wait_for_the_holder, daemon=True).start()
    try:
        answer = str(process.wait(float(seconds)))
    except subprocess.TimeoutExpired:
        answer = TIMEOUT
    finally:
        kill_group()
    process.wait()
    os.write(1, answer.encode())
    os._exit(0)  # the thread still reads, and Python would wait for its lock


if __name__ == "__main__":
    main(*sys.argv[1:])
