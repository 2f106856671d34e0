"""experiments/table.py: what is due in order, side by side, once; stopped and gone on with; reasons written down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import table
from blank_record import BLANK
from cells import read_reasons

ROOT = Path(__file__).parents[2]

# Stands for trifold: notes its words, and leaves what a training or an evaluation leaves. A file `slow-WORD` lets the
# commands with this word wait for a signal, `bad-WORD` makes them fail with its text and code.
FAKE = """#!{python}
import json, signal, sys, time
from hashlib import sha256
from pathlib import Path

words = sys.argv[1:]
line = " ".join(words)
Path("log").open("a").write(line + "\\n")

def end(*_):
    Path("ended").open("a").write(words[0] + "\\n")
    sys.exit(143)

signal.signal(signal.SIGTERM, end)
if words[0] == "train":
    run = Path(words[2] if words[1] == "--resume" else words[3])
    run.mkdir(parents=True, exist_ok=True)
    (run / "config.json").touch()
Path("began").open("a").write(words[0] + "\\n")
for file in Path().glob("slow-*"):
    if file.name[5:] in line:
        time.sleep(60)
for file in Path().glob("bad-*"):
    if file.name[4:] in line:
        code, _, said = file.read_text().partition(" ")
        print(said, file=sys.stderr)
        sys.exit(int(code))
if words[0] == "train":
    (run / "model.safetensors").write_text(str(run))
else:
    name = sha256(Path(words[1]).read_bytes()).hexdigest()
    blank, policy = json.loads({blank!r}), words[words.index("--policy") + 1]
    for problem in sorted(Path(words[2]).glob("p*.pddl")):
        record = blank | {{"model_sha256": name, "policy": policy, "problem": problem.name, "outcome": "solved"}}
        Path(words[words.index("--records") + 1]).open("a").write(json.dumps(record) + "\\n")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    fake = tmp_path / "fake"
    fake.write_text(FAKE.format(python=sys.executable, blank=json.dumps(BLANK | {"schema": 1})))
    fake.chmod(0o755)
    for folder in ("suite/grid", "suite/navig-xy", "suite/rovers", "suite/gripper", "bench/gripper"):
        for split in ("train", "test"):
            (tmp_path / folder / split).mkdir(parents=True)
            for name in ("domain.pddl", "p1.pddl", "p2.pddl"):
                (tmp_path / folder / split / name).touch()
    return tmp_path


@pytest.fixture
def run(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.chdir(place)
    monkeypatch.setenv("TRIFOLD", str(place / "fake"))

    def run(*words: str, code: int = 0) -> tuple[list[str], list[str]]:
        """The commands that were run, and the lines that were printed, without their seconds."""
        (place / "log").unlink(missing_ok=True)
        monkeypatch.setattr("sys.argv", ["table.py", "--suite", "suite", "--out", "out", *words])
        try:
            table.main()
        except SystemExit as end:
            assert code and isinstance(end.code, str), end.code  # which is said, and the code is 1
        else:
            assert not code
        log = place / "log"
        said = [line.rsplit(" (", 1)[0] for line in capsys.readouterr().out.splitlines()]
        return log.read_text().splitlines() if log.exists() else [], said

    return run


@pytest.fixture
def deadline_after(place: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the deadline come as soon as so many commands have begun, however long that takes."""
    began, real = place / "began", time.monotonic

    def deadline_after(commands: int) -> None:
        begun = len(began.read_text().splitlines()) if began.exists() else 0

        def clock() -> float:
            is_late = began.exists() and len(began.read_text().splitlines()) >= begun + commands
            return real() + (1e6 if is_late else 0.0)

        monkeypatch.setattr("time.monotonic", clock)

    return deadline_after


def test_a_cell_is_trained_then_evaluated_and_once(run: Callable[..., Any]) -> None:
    words = ("--domain", "grid", "--model", "compositions", "--minutes", "5", "--device", "cuda", "--workers", "3")
    commands, said = run(*words)
    records = "--records out/results/suite/grid.jsonl"
    folder = "out/runs/grid-compositions"
    assert commands == [
        f"train suite/grid --run {folder} --recipe grid-values --set batch=16 --set learning_rate=5e-4 "
        "--set encoder=compositions --set dim=32 --set merge=false --minutes 5 --seeds 1 --seed 0 --workers 3 "
        "--device cuda --quiet",
        f"evaluate {folder}/model.safetensors suite/grid/test {records} --policy values --timeout 600.0 --workers 3 "
        "--device cuda --quiet",
    ]
    assert said == ["train grid-compositions: done", "evaluate values grid-compositions: done"]
    assert run(*words) == ([], [])


def test_stages_are_apart_and_the_papers_own_files_are_evaluated(run: Callable[..., Any]) -> None:
    words = ("--domain", "gripper", "--model", "rgnn", "--model", "rgnn2", "--stage")
    commands, _ = run(*words, "train")
    assert [line.split()[0] for line in commands] == ["train", "train"]
    assert "--set encoder=plain" in commands[0] and "--set t=2" in commands[1]
    run(*words, "evaluate", code=1)  # without the paper's own files
    commands, _ = run(*words, "evaluate", "--bench", "bench", "--memory", "4")
    assert [line.split()[2] for line in commands] == ["bench/gripper/test"] * 2
    assert all("--records out/results/public/gripper.jsonl" in line and "--memory 4" in line for line in commands)
    assert run(*words, "evaluate", "--bench", "bench") == ([], [])


def test_navig_xy_is_evaluated_without_a_memory_first(run: Callable[..., Any]) -> None:
    _, said = run("--domain", "navig-xy", "--model", "rgnn1")
    assert said[1:] == [f"evaluate {policy} navig-xy-rgnn1: done" for policy in ("strict", "values")]


def test_commands_run_side_by_side_but_one_at_a_time_writes_to_a_file_of_records(
    place: Path, run: Callable[..., Any], deadline_after: Callable[[int], None]
) -> None:
    for name in ("rgnn", "rgnn0"):
        folder = place / "out" / "runs" / f"grid-{name}"
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_text(name)
        (folder / "done").touch()
    (place / "slow-evaluate").touch()
    words = ("--domain", "grid", "--model", "rgnn", "--model", "rgnn0", "--at-once", "4")
    limits = ("--deadline", "1000", "--patience", "1e9")
    deadline_after(1)
    commands, said = run(*words, *limits)
    assert len(commands) == 1 and "stopped, to be gone on with" in said[0]
    (place / "slow-evaluate").rename(place / "slow-train")
    for name in ("rgnn", "rgnn0"):
        (place / "out" / "runs" / f"grid-{name}" / "done").unlink()
    deadline_after(2)
    commands, _ = run(*words, *limits)
    assert [line.split()[0] for line in commands] == ["train", "train"]


def test_a_deadline_stops_all_and_the_next_call_goes_on(
    place: Path, run: Callable[..., Any], deadline_after: Callable[[int], None]
) -> None:
    (place / "slow-train").touch()
    words = ("--domain", "grid", "--domain", "rovers", "--model", "rgnn1", "--at-once", "2", "--stage", "train")
    deadline_after(2)
    commands, said = run(*words, "--deadline", "1000", "--patience", "1e9")
    assert len(commands) == 2 and said[-1].startswith("the deadline has come")
    assert said[:2] == [f"train {name}-rgnn1: stopped, to be gone on with" for name in ("grid", "rovers")]
    assert (place / "ended").read_text() == "train\n" * 2
    assert not (place / "out" / "results" / "reasons.jsonl").exists()
    (place / "slow-train").unlink()
    commands, said = run(*words, "--device", "cpu", "--workers", "1")
    assert sorted(commands) == [
        f"train --resume out/runs/{name}-rgnn1 --workers 1 --device cpu --quiet" for name in ("grid", "rovers")
    ]
    assert [line.rsplit(": ")[1] for line in said] == ["done", "done"]


def test_a_signal_stops_all(place: Path, run: Callable[..., Any]) -> None:
    (place / "slow-train").touch()
    command = [sys.executable, str(ROOT / "experiments" / "table.py"), "--suite", "suite", "--out", "out"]
    words = ("--domain", "grid", "--model", "rgnn", "--stage", "train")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, *words], cwd=place, env=environment, text=True, **pipes) as process:
        while not (place / "began").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        run(*words, code=1)  # one call at a time trains
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "stopped" in out and "goes on" in errors
    assert (place / "ended").read_text() == "train\n"


def test_what_fails_is_written_down_with_its_reason_and_tried_again_when_asked(
    place: Path, run: Callable[..., Any]
) -> None:
    (place / "bad-encoder=marks").write_text("7 error: there is not enough memory\n  try: less")
    (place / "bad-encoder=plain").write_text("1 Traceback\nRuntimeError: odd")
    words = ("--domain", "grid", "--model", "rgnn", "--model", "et", "--stage", "train")
    _, said = run(*words)
    assert said == [
        "train grid-rgnn: crash: exit code 1: RuntimeError: odd",
        "train grid-et: memory limit: there is not enough memory",
    ]
    assert run(*words) == ([], [])
    reasons = read_reasons(place / "out" / "results" / "reasons.jsonl")
    [one] = reasons["grid", "ET"]
    assert (one["stage"], one["outcome"], one["message"]) == ("train", "memory limit", "there is not enough memory")
    assert one["command"] and one["command"].startswith("trifold train suite/grid --run out/runs/grid-et")
    for file in place.glob("bad-*"):
        file.unlink()
    assert [line.split()[1] for line in run(*words, "--again")[0]] == ["--resume", "--resume"]


def test_what_takes_too_long_is_given_up(place: Path, run: Callable[..., Any]) -> None:
    (place / "slow-train").touch()
    _, said = run("--domain", "grid", "--model", "rgnn", "--stage", "train", "--patience", "0.02")
    assert said == ["train grid-rgnn: timeout: not done after 0.02 minutes"]
    [[one]] = read_reasons(place / "out" / "results" / "reasons.jsonl").values()
    assert one["outcome"] == "timeout"


def test_architectures_that_cannot_read_a_domain_are_not_begun(place: Path, run: Callable[..., Any]) -> None:
    words = ("--domain", "rovers", "--model", "2gnn", "--model", "et")
    commands, said = run(*words)
    assert commands == [] and len(said) == 2
    reasons = read_reasons(place / "out" / "results" / "reasons.jsonl")
    assert {model for _, model in reasons} == {"2-GNN", "ET"}
    for told in reasons.values():
        assert [one["outcome"] for one in told] == ["bad input"] and "can_traverse/3" in told[0]["message"]
    assert run(*words) == ([], [])


def test_a_wrong_folder_is_no_reason_for_a_cell(place: Path, run: Callable[..., Any]) -> None:
    run("--domain", "vacuum", "--model", "rgnn", code=1)
    assert not (place / "out" / "results" / "reasons.jsonl").exists()


def test_a_plan_names_what_is_left_and_runs_nothing(place: Path, run: Callable[..., Any]) -> None:
    run("--domain", "grid", "--model", "rgnn", "--stage", "train")
    words = ("--domain", "grid", "--domain", "rovers", "--at-once", "4", "--plan")
    commands, said = run(*words)
    assert commands == []
    text = "\n".join(said)
    assert "grid-rgnn1 " in text and "grid-rgnn " not in text and "rovers-et" not in text
    assert said[-1].startswith("11 trainings of ") and "lease 1, command 1: grid-rgnn0, " in text
