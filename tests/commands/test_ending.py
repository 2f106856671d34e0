"""However a command ends, it is an exit code and a few words, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

from trifold.commands.ending import ENDING_SIGNALS, run_to_the_end
from trifold.domains import write_problems
from trifold.errors import TrifoldError

TRIFOLD = [sys.executable, "-m", "trifold"]


@pytest.fixture
def _own_handlers() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_own_handlers")
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (None, 0, ""),
        (SystemExit(4), 4, ""),
        (TrifoldError("wrong", remedy="mend it"), 2, "error: wrong\n  try: mend it\n"),
        (PermissionError(13, "Permission denied", "a/b"), 2, "cannot use this file: Permission denied\n  in: a/b\n"),
        (OSError(28, "No space left on device"), 2, "cannot write the result: No space left on device"),
        (MemoryError(), 7, "error: there is not enough memory"),
        (ImportError("libtorch.so: failed to map segment from shared object"), 7, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
    ],
)
def test_what_ends_a_command_is_told_in_a_few_words(
    capsys: pytest.CaptureFixture[str], error: BaseException | None, code: int, words: str
) -> None:
    def command() -> None:
        if error:
            raise error

    assert run_to_the_end(command) == code
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("_own_handlers")
@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_an_error_that_a_library_makes_of_an_interrupt_is_none(number: signal.Signals) -> None:
    def command() -> None:
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise RuntimeError("KeyboardInterrupt: <EMPTY MESSAGE>") from None

    assert run_to_the_end(command) == 128 + number


@pytest.mark.usefixtures("_own_handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_asks_to_end_is_an_interrupt(number: signal.Signals) -> None:
    cleared = []

    def command() -> None:
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            signal.raise_signal(number)  # a second one does not disturb the clearing up
            cleared.append(True)
            raise SystemExit(130) from None

    assert run_to_the_end(command) == 128 + number and cleared


@pytest.mark.usefixtures("_own_handlers")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("an interrupt, says a library")])
def test_a_second_interrupt_does_not_disturb_the_last_words(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    class Impatient(StringIO):
        def write(self, text: str) -> int:
            signal.raise_signal(signal.SIGINT)
            return super().write(text)

    def command() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise error

    monkeypatch.setattr(sys, "stderr", Impatient())
    assert run_to_the_end(command) == 128 + signal.SIGINT
    assert sys.stderr.getvalue() == "interrupted\n"


@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_a_signal_after_the_end_changes_nothing(number: signal.Signals) -> None:
    script = f"import atexit, signal, sys; atexit.register(signal.raise_signal, {int(number)})"
    script += "; from trifold.commands.ending import run_to_the_end; sys.exit(run_to_the_end(lambda: sys.exit(3)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.usefixtures("_own_handlers")
@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_a_signal_waits_until_a_library_is_loaded(number: signal.Signals) -> None:
    """A library of C++ that calls Python while it is loaded would abort at an interrupt."""
    events = []

    class Library(ExtensionFileLoader):
        def exec_module(self, module: ModuleType) -> None:
            signal.raise_signal(number)
            events.append("loaded")

    def command() -> None:
        Library("library", "library.so").exec_module(ModuleType("library"))
        time.sleep(10)
        events.append("too late")

    assert run_to_the_end(command) == 128 + number
    assert events == ["loaded"]


def test_an_interrupt_while_a_text_is_executed_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """As dataclasses do when they are imported: `python -m` would end by SIGINT, whatever was caught."""
    (tmp_path / "ended.py").write_text(
        "import signal, sys\n"
        "from trifold.commands.ending import run_to_the_end\n"
        "sys.exit(run_to_the_end(lambda: exec('import signal; signal.raise_signal(signal.SIGTERM)')))\n"
    )
    done = subprocess.run([sys.executable, "-m", "ended"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "interrupted\n")


def test_a_reader_that_has_gone_ends_a_command_without_a_word() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*TRIFOLD, "domains"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.usefixtures("_own_handlers")
def test_an_error_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run_to_the_end(lambda: 1 / 0)


def test_a_full_disk_behind_standard_output_is_an_error() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*TRIFOLD, "domains"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write the result: No space left") and "Traceback" not in done.stderr


def test_what_the_terminal_cannot_show_is_replaced() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([*TRIFOLD, "train", "--help"], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"") and b"?" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_is_asked_to_end_takes_its_children_along(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    write_problems(tmp_path / "pddl", "gripper", [30, 31], 0)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary), "TRIFOLD_CACHE": str(tmp_path / "cache")}
    command = [*TRIFOLD, "label", str(tmp_path / "pddl"), "--workers", "2"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(pids := children.read_text().split()) < 2:
            time.sleep(0.02)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code and "the same command goes on" in errors and "Traceback" not in errors
    end = time.monotonic() + 10  # one that was just being started ends with its parent, a moment later
    while any(Path("/proc", pid).exists() for pid in pids):
        assert time.monotonic() < end
    assert list(temporary.iterdir()) == [] and list((tmp_path / "cache").iterdir()) == []
