"""How a command ends: with an exit code and a few words, whatever ends it, and without a traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from io import TextIOWrapper
from types import FrameType

from trifold.errors import TrifoldError
from trifold.files import mendable
from trifold.memory import OutOfMemory, lacks_memory

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end: it does so as after Ctrl-C, so that no child and no temporary file is left."""

LATER_SECONDS = 0.05
"""When a signal that comes at a bad moment is sent again."""


def run_to_the_end(command: Callable[[], object]) -> int:
    """Run a command that may raise anything, say what a user can mend, and return the exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # what a terminal cannot show is a question mark, and no error
    asked: list[int] = []
    taken: list[int] = []
    try:
        _end_when_asked(asked, taken)
        code = _run(command)
        _ignore(taken)
    except KeyboardInterrupt:
        _ignore(taken)
        _say("interrupted")
        code = 128 + signal.SIGINT
    except Exception:
        _ignore(taken)
        if not asked:
            raise
        _say("interrupted")  # a library may make another error of an interrupt
    # An interrupt in a text that is executed, as dataclasses are, is remembered by `python -m`, which would then end by
    # SIGINT whatever the exit code. The next text that is executed makes it forget.
    exec("")
    return 128 + asked[0] if asked else code


def _run(command: Callable[[], object]) -> int:
    try:
        command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # which typer makes an exit of
            return _end_without_reader()
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except TrifoldError as error:
        _say(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        return _end_without_reader()
    except Exception as error:
        if lacks_memory(error):
            _say(f"error: {OutOfMemory('there is not enough memory', remedy='ask for less, or give it more memory')}")
            return OutOfMemory.exit_code
        if not isinstance(error, OSError):
            raise
        doing = "use this file" if error.filename else "write the result"
        _say(f"error: {mendable(error, doing)}")
        _close_output()
        return TrifoldError.exit_code
    return 0


def _end_when_asked(asked: list[int], taken: list[int]) -> None:
    """Let the signals that end a process raise what Ctrl-C raises; note which are taken, and which was sent."""

    def end(number: int, frame: FrameType | None) -> None:
        if _is_loading_an_extension(frame):
            again = threading.Timer(LATER_SECONDS, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return
        asked.append(number)
        if number != signal.SIGINT:
            signal.signal(number, signal.SIG_IGN)  # it is ending: a second one would disturb the clearing up
        raise KeyboardInterrupt

    for number in ENDING_SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # else nohup or a caller wants it
            taken.append(number)
            signal.signal(number, end)


def _is_loading_an_extension(frame: FrameType | None) -> bool:
    """Whether a library of C++ is being loaded, which may call Python and would abort at an exception from there."""
    while frame is not None:
        if isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False


def _ignore(taken: list[int]) -> None:
    """The command has ended: another signal would disturb the last words, or the exit of Python."""
    for number in taken:
        signal.signal(number, signal.SIG_IGN)


def _end_without_reader() -> int:
    """The reader of a pipe has gone, as `head` does: that is no error to be told."""
    _close_output()
    return 128 + signal.SIGPIPE


def _say(text: str) -> None:
    with suppress(OSError):  # there may be no place to say it
        print(text, file=sys.stderr, flush=True)


def _close_output() -> None:
    """Let go of an output that cannot be written: Python would try again when it exits, and complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
