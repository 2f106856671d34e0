"""References: a plan counts only if it replays, every end of the planner is named, and nothing of it is left behind."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from blank_record import BLANK
from trifold.commands.reference import reference as reference_command
from trifold.commands.table import table as table_command
from trifold.errors import TrifoldError
from trifold.evaluation import planner as planner_module
from trifold.evaluation.references import Reference, best_of_each, find_references, read_references
from trifold.evaluation.tables import RENDERERS, summarise, table_cells
from trifold.planning import read_plan

DOMAIN = """
(define (domain corridor)
  (:requirements :action-costs)
  (:predicates (at ?x) (next ?x ?y))
  (:functions (total-cost))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
    :effect (and (at ?y) (not (at ?x)) (increase (total-cost) 7))))
"""


def corridor(cells: int) -> str:
    """A problem that one can solve in cells − 1 steps, or in two more by going back once."""
    names = [f"c{i}" for i in range(cells)]
    pairs = " ".join(f"(next {x} {y}) (next {y} {x})" for x, y in pairwise(names))
    return (
        f"(define (problem corridor-{cells}) (:domain corridor) (:objects {' '.join(names)})"
        f" (:init (= (total-cost) 0) (at c0) {pairs}) (:goal (at c{cells - 1})) (:metric minimize (total-cost)))"
    )


SHORT = ["(go c0 c1)", "(go c1 c2)"]
LONG = ["(go c0 c1)", "(go c1 c0)", *SHORT]

# Reads the planner's options and then does as the search's part of `behaviour` says.
FAKE = """
import os, subprocess, sys, time
from pathlib import Path

def write(name, *actions):
    Path(name).write_text("".join(action + "\\n" for action in actions) + "; cost = 1\\n")

words = sys.argv[1:]
if words == ["--version"]:
    print("Fake Downward 1.0\\nby a test")
    sys.exit()
assert words[:2] == ["--plan-file", "plan"]
search = "lama" if words[2:4] == ["--alias", "lama"] else words[-1]
files = words[4:] if search == "lama" else words[2:4]
assert files == ["domain.pddl", "problem.pddl"] and all(Path(file).is_file() for file in files)
assert "metric" not in Path("problem.pddl").read_text()
with open(LOG, "a") as log:
    log.write(next(name for name in ("lama", "landmark", "merge_and_shrink", "lmcut") if name in search) + " " +
              os.getcwd() + "\\n")
behaviour = BEHAVIOUR
exec(next((code for name, code in behaviour.items() if name in search), "sys.exit(12)"))
"""


@pytest.fixture
def corridors(tmp_path: Path) -> Path:
    folder = tmp_path / "corridor"
    folder.mkdir()
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p3.pddl").write_text(corridor(3))
    return folder


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., Any]:
    """Makes planners that do as told, by a part of the search's name, and exit with 12 (no plan) by default."""

    def make(**behaviour: Any) -> Path:
        script = FAKE.replace("LOG", repr(str(tmp_path / "log"))).replace("BEHAVIOUR", repr(behaviour))
        (tmp_path / "fake.py").write_text(script)
        return tmp_path / "fake.py"

    return make


def searches(tmp_path: Path) -> list[str]:
    """The searches that the fake planner was asked for; none of their folders is left."""
    lines = [line.split(" ", 1) for line in (tmp_path / "log").read_text().splitlines()]
    assert not any(os.path.exists(folder) for _, folder in lines)
    return [name for name, _ in lines]


def find(folder: Path, tmp_path: Path, planner: Path | None, **settings: Any) -> Any:
    (found,) = find_references(
        [folder / "p3.pddl"],
        folder / "domain.pddl",
        records=tmp_path / "references.jsonl",
        planner=planner,
        **({"timeout": 60.0} | settings),
    )
    return found


def test_the_first_optimal_search_that_finishes_ends_it(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    found = find(corridors, tmp_path, fake(merge_and_shrink=f"write('plan', *{SHORT})"))
    assert (found["kind"], found["length"], found["search"]) == ("optimal", 2, "A* with merge-and-shrink")
    assert (found["domain"], found["problem"], found["planner"]) == ("corridor", "p3.pddl", "Fake Downward 1.0")
    assert found["message"] == "A* with landmarks: no plan"
    assert searches(tmp_path) == ["landmark", "merge_and_shrink"]
    assert read_references(tmp_path / "references.jsonl") == [found]


def test_the_best_plan_of_lama_is_kept_if_it_is_stopped(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    code = f"write('plan.1', *{LONG}); write('plan.2', *{SHORT}); Path('plan.3').write_text('(go c0'); time.sleep(60)"
    found = find(corridors, tmp_path, fake(lama=code), timeout=3.0, optimal_timeout=0.0)
    assert (found["kind"], found["length"], found["search"]) == ("best known", 2, "LAMA")
    assert searches(tmp_path) == ["lama"]


def test_the_best_plan_is_written_and_a_reference_without_its_plan_is_looked_for_again(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    planner = fake(landmark=f"write('plan', *{SHORT})")
    find(corridors, tmp_path, planner)
    for _ in range(2):
        found = find(corridors, tmp_path, planner, plans=tmp_path / "plans")
    assert searches(tmp_path) == ["landmark", "landmark"] and "plan" not in found
    assert read_plan(tmp_path / "plans" / "p3.plan") == SHORT


@pytest.mark.parametrize("plan", [["(go c0 c2)"], ["(go c0 c1)"], ["(fly c0 c2)"], []])
def test_a_plan_that_does_not_replay_is_not_believed(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any], plan: list[str]
) -> None:
    found = find(corridors, tmp_path, fake(lmcut=f"write('plan', *{plan})", lama=f"write('plan.1', *{LONG})"))
    assert (found["kind"], found["length"]) == ("best known", 4)
    assert "A* with LM-cut: finished, but a plan does not replay" in found["message"]


def test_an_optimal_search_that_did_not_finish_proves_nothing(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    found = find(corridors, tmp_path, fake(lmcut=f"write('plan', *{SHORT}); sys.exit(1)"))
    assert found["kind"] == "no plan"


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("sys.exit(22)", "no plan", "LAMA: memory limit"),
        ("time.sleep(60)", "no plan", "LAMA: timeout"),
        ("raise ValueError('dizzy')", "crash", "LAMA: the planner exited with 1: ValueError: dizzy"),
        ("print('dizzy', file=sys.stderr); sys.exit(35)", "crash", "LAMA: the planner exited with 35: dizzy"),
        ("os.abort()", "crash", "LAMA: the planner exited with -6"),
        ("pass", "crash", "LAMA: finished"),
        ("Path('plan.1').write_text('no plan')", "crash", "LAMA: finished"),
        ("write('plan.1', '(go c0 c2)')", "crash", "LAMA: finished, but a plan does not replay: step 1"),
    ],
)
def test_every_end_is_named(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any], code: str, kind: str, message: str
) -> None:
    found = find(corridors, tmp_path, fake(lama=code), timeout=3.0, optimal_timeout=0.0)
    assert found["length"] is None and found["search"] is None
    assert found["kind"] == kind and message in found["message"]


def test_an_unsolvable_problem_needs_no_other_search(corridors: Path, tmp_path: Path, fake: Callable[..., Any]) -> None:
    found = find(corridors, tmp_path, fake(landmark="sys.exit(11)"))
    assert (found["kind"], found["message"]) == ("no plan", "A* with landmarks: unsolvable")
    assert searches(tmp_path) == ["landmark"]


def test_a_bad_problem_fails_alone(corridors: Path, tmp_path: Path, fake: Callable[..., Any]) -> None:
    (corridors / "p1.pddl").write_text("(define (problem broken")
    found = find_references(
        [corridors / "p1.pddl", corridors / "p3.pddl"],
        corridors / "domain.pddl",
        records=tmp_path / "references.jsonl",
        planner=fake(landmark=f"write('plan', *{SHORT})"),
    )
    assert [one["kind"] for one in found] == ["bad input", "optimal"]
    assert "parenthesis" in found[0]["message"]


def test_processes_of_the_planner_end_at_the_limit_and_use_limited_memory(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    pids = tmp_path / "pids"
    code = f"""
import resource
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
Path({str(pids)!r}).write_text(f"{{os.getpid()}} {{child.pid}} {{resource.getrlimit(resource.RLIMIT_AS)[0]}}")
time.sleep(60)"""
    find(corridors, tmp_path, fake(lama=code), timeout=4.0, optimal_timeout=0.0, memory_gib=3.0)
    *processes, limit = map(int, pids.read_text().split())
    assert limit == 3 * 2**30
    assert [pid for pid in processes if is_running(pid)] == []


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_it_is_interrupted_or_killed(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any], end: signal.Signals
) -> None:
    pids = tmp_path / "pids"
    code = f"""
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
write("half", f"{{os.getpid()}} {{child.pid}} {{os.getcwd()}}")
os.replace("half", {str(pids)!r})
time.sleep(60)"""
    words = ["reference", str(corridors), "--records", str(tmp_path / "r.jsonl"), "--planner", str(fake(landmark=code))]
    command = subprocess.Popen([sys.executable, "-m", "trifold", *words], stderr=subprocess.PIPE, text=True)
    wait_until(pids.exists)
    command.send_signal(end)
    _, errors = command.communicate()
    assert command.returncode == (130 if end == signal.SIGINT else -end)
    assert end != signal.SIGINT or "the same command goes on" in errors
    parent, child, folder = pids.read_text().splitlines()[0].split()
    wait_until(lambda: not is_running(int(parent)) and not is_running(int(child)) and not os.path.exists(folder))
    records = tmp_path / "r.jsonl"
    assert records.read_bytes() == b"" if end == signal.SIGKILL else not records.exists()  # it was made to be locked


def is_running(pid: int) -> bool:
    """Whether the process lives; one that has ended and that no one has asked for does not."""
    try:
        os.kill(pid, 0)
        return sys.platform != "linux" or Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until(condition: Callable[..., Any]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_recorded_is_not_looked_for_again_unless_it_could_be_better(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    seen = []

    def kinds(planner: Path, **settings: Any) -> tuple[str, bool]:
        found = find(corridors, tmp_path, planner, on_record=lambda record, is_new: seen.append(is_new), **settings)
        return found["kind"], seen.pop()

    broken = fake(lama="sys.exit(35)")
    assert kinds(broken) == ("crash", True)
    assert kinds(broken) == ("crash", True)
    lame = fake(lama=f"write('plan.1', *{LONG})")
    assert kinds(lame) == ("best known", True)
    assert kinds(lame) == ("best known", False)
    good = fake(lmcut=f"write('plan', *{SHORT})")
    assert kinds(good) == ("best known", False)
    assert kinds(good, timeout=61.0) == ("optimal", True)
    assert kinds(good) == ("optimal", False)
    (corridors / "domain.pddl").write_text(DOMAIN + "\n; another text")
    assert kinds(good) == ("optimal", True)
    assert [one["kind"] for one in read_references(tmp_path / "references.jsonl")] == [
        *("crash", "crash", "best known", "optimal", "optimal")
    ]


def test_a_torn_line_is_skipped_and_a_foreign_file_refused(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    found = find(corridors, tmp_path, fake(landmark=f"write('plan', *{SHORT})"))
    file = tmp_path / "references.jsonl"
    whole = file.read_bytes()
    for size in (1, 12, len(whole) - 2):
        file.write_bytes(whole + whole[:size])
        assert read_references(file) == [found]
    odd = [json.dumps(found | change) for change in ({"schema": 99}, {"problem_sha256": [1]}, {"length": "long"})]
    for content in ("hello\n", '{"schema": 1}\n', "null\n", "[" * 100_000, *odd):
        file.write_text(content)
        with pytest.raises(TrifoldError, match=r"line 1 is (not )?a reference"):
            read_references(file)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TrifoldError) as caught:
        planner_module.find_planner()
    assert caught.value.remedy == "pip install 'trifold[planners]'"


@pytest.mark.parametrize(("code", "message"), [("", "exited with 0"), ("1 / 0", "ZeroDivisionError")])
def test_a_planner_that_does_not_run_is_an_error(corridors: Path, tmp_path: Path, code: str, message: str) -> None:
    (tmp_path / "other.py").write_text(code)
    with pytest.raises(TrifoldError, match=message):
        find(corridors, tmp_path, tmp_path / "other.py")
    with pytest.raises(TrifoldError, match="no such file"):
        find(corridors, tmp_path, tmp_path / "none.py")


def made(problem: str, kind: str, length: int | None) -> dict[str, Any]:
    fields = dict.fromkeys(Reference.__annotations__) | {"schema": 1, "problem_sha256": problem}
    return fields | {"kind": kind, "length": length}


def attempt(problem: str, length: int | None) -> dict[str, Any]:
    return BLANK | {
        "schema": 1,
        "domain": "d",
        "model": "m",
        "policy": "values",
        "problem": problem,
        "problem_sha256": problem,
        "outcome": "stuck" if length is None else "solved",
        "plan_length": length,
        "seconds": 1.0,
    }


def test_the_best_reference_of_a_problem_counts() -> None:
    references = [
        made("a", "best known", 5),
        made("a", "no plan", None),
        made("a", "best known", 4),
        made("a", "optimal", 4),
        made("a", "best known", 4),
        made("b", "failed", None),
        made("c", "optimal", 0),
    ]
    best = best_of_each(references)
    assert {name: (one["kind"], one["length"]) for name, one in best.items()} == {
        "a": ("optimal", 4),
        "c": ("optimal", 0),
    }


def test_lengths_are_compared_over_solved_instances_with_a_reference() -> None:
    attempts = [attempt("a", 6), attempt("b", 10), attempt("c", None), attempt("d", 9)]
    best = best_of_each([made("a", "optimal", 4), made("b", "best known", 12), made("c", "optimal", 3)])
    (row,) = summarise(attempts, best)
    assert row.total == 25
    quality = row.quality
    assert (quality.instances, quality.optimal, quality.length, quality.best) == (2, 1, 16, 16)
    assert quality.ratio == 1.0
    heads, cells = table_cells([row])
    shown = dict(zip(heads, cells, strict=True))
    assert (shown["Length / best known"], shown["Ratio"], shown["Compared"]) == (
        "16 / 16",
        "1.000",
        "2 of 3 (1 optimal)",
    )


@pytest.mark.parametrize("best", [{}, {"a": made("a", "optimal", 0)}])
def test_a_ratio_that_does_not_exist_is_not_shown(best: dict[str, Any] | dict[str, dict[str, Any]]) -> None:
    (row,) = summarise([attempt("a", 0)], best)
    assert row.quality.ratio is None
    assert all("-" in render([row]) or "null" in render([row]) for render in RENDERERS.values())


def test_without_references_a_table_is_as_before() -> None:
    (row,) = summarise([attempt("a", 6)])
    assert row.quality is None and "Ratio" not in table_cells([row])[0]


def test_a_plan_shorter_than_an_optimal_one_is_an_error() -> None:
    with pytest.raises(TrifoldError, match="3 steps is shorter than the optimal reference of 4"):
        summarise([attempt("a", 3)], {"a": made("a", "optimal", 4)})


def run(command: Callable[..., Any], *words: Any) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)


def test_the_commands_from_problems_to_a_table(corridors: Path, tmp_path: Path, fake: Callable[..., Any]) -> None:
    references, records = tmp_path / "new" / "references.jsonl", tmp_path / "records.jsonl"
    words = (corridors, "-r", references, "--timeout", 60, "--planner", fake(landmark=f"write('plan', *{SHORT})"))
    result = run(reference_command, *words)
    assert (result.exit_code, result.stdout) == (0, "1 problem: 1 optimal; total length 2\n")
    assert "[1/1] p3.pddl: 2 steps, optimal, by A* with landmarks" in result.stderr
    result = run(reference_command, *words, "--json", "--quiet")
    assert (json.loads(result.stdout), result.stderr) == (read_references(references), "")

    sha256 = read_references(references)[0]["problem_sha256"]
    records.write_text(json.dumps(attempt("p3.pddl", 4) | {"problem_sha256": sha256}) + "\n")
    for form, expected in {
        "text": "4 / 2  2.000  1 of 1 (1 optimal)",
        "markdown": "| 4 / 2 | 2.000 | 1 of 1 (1 optimal) |",
        "latex": "& 4 / 2 & 2.000 & 1 of 1 (1 optimal) &",
        "json": '"ratio": 2.0',
    }.items():
        result = run(table_command, records, "--references", references, "--format", form)
        assert result.exit_code == 0
        assert " ".join(expected.split()) in " ".join(result.stdout.split())


def test_the_command_says_if_there_is_no_domain_or_nothing_could_be_done(
    corridors: Path, tmp_path: Path, fake: Callable[..., Any]
) -> None:
    words = ("-r", tmp_path / "references.jsonl", "--planner", fake(lama="sys.exit(35)"), "--timeout", 20)
    assert run(reference_command, corridors, *words).exit_code == 2
    (corridors / "domain.pddl").unlink()
    with pytest.raises(TrifoldError, match=r"no domain\.pddl"):
        run(reference_command, corridors, *words)


@pytest.mark.skipif(importlib.util.find_spec("up_fast_downward") is None, reason="Fast Downward is not installed")
def test_fast_downward_finds_what_is_optimal(corridors: Any, tmp_path: Path) -> None:
    found = find(corridors, tmp_path, None, timeout=40.0)
    assert (found["kind"], found["length"]) == ("optimal", 2)
    found = find(corridors, tmp_path, None, timeout=10.0, optimal_timeout=0.0)  # what is optimal stays so
    assert found["kind"] == "optimal"
    found = find(corridors, tmp_path / "lama", None, timeout=5.0, optimal_timeout=0.0)
    assert (found["kind"], found["length"]) == ("best known", 2)
    assert Path(planner_module.find_planner()).name == "fast-downward.py"
