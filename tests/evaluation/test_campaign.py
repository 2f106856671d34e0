"""Evaluation: every end of a child is a named outcome in a record, and a run can be continued at any point."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from trifold.commands.evaluate import evaluate as evaluate_command
from trifold.commands.solve import solve as solve_command
from trifold.commands.table import table as table_command
from trifold.errors import TrifoldError
from trifold.evaluation import Record, SolveJob, attempt, attempt_each, evaluate, read_records
from trifold.evaluation.campaign import threads_each
from trifold.evaluation.job import solve_job
from trifold.memory import OutOfMemory
from trifold.model import Model, ModelConfig
from trifold.pddl import load_domain, load_problem
from trifold.planning import Outcome, Trajectory, read_plan, replay
from trifold.processes import Limits, Result
from trifold.provenance import Origin

# One can only go forward, so that every policy, of any model, goes the same way.
DOMAIN = """
(define (domain corridor)
  (:predicates (at ?x) (next ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y)) :effect (and (at ?y) (not (at ?x)))))
"""


def corridor(cells: int, start: int, goal: int) -> str:
    names = [f"c{i}" for i in range(cells)]
    pairs = " ".join(f"(next {x} {y})" for x, y in pairwise(names))
    return (
        f"(define (problem corridor-{cells}) (:domain corridor) (:objects {' '.join(names)})"
        f" (:init (at c{start}) {pairs}) (:goal (at c{goal})))"
    )


PROBLEMS = {
    "p1.pddl": corridor(3, 0, 2),
    "p2.pddl": corridor(4, 2, 0),  # the goal lies behind
    "p3.pddl": "(define (problem broken) (:domain corridor",
    "p10.pddl": corridor(6, 0, 5),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model, `domain.pddl`, and the problems in `test/`."""
    folder = tmp_path_factory.mktemp("corridor")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "test").mkdir()
    for name, text in PROBLEMS.items():
        (folder / "test" / name).write_text(text)
    domain = load_domain(DOMAIN)
    config = ModelConfig(dim=2, layers=1)
    relations = config.build_encoder().signature(domain.signature)
    model = Model.fresh(config, domain.signature, DOMAIN, {name: 1 for name, _ in relations}, seed=0)
    model.save(folder / "model.safetensors")
    return folder


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_folder_is_evaluated_and_continued(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, problems = folder / "model.safetensors", [folder / "test" / name for name in PROBLEMS]
    seen = []
    settings = {"records": tmp_path / "records.jsonl", "domain": folder / "domain.pddl", "max_steps": 4}
    settings |= {"plans": tmp_path / "plans", "on_record": lambda record, is_new: seen.append(is_new)}
    found = evaluate(model, problems, **settings)

    assert [record["problem"] for record in found] == list(PROBLEMS)
    assert [record["outcome"] for record in found] == ["solved", "stuck", "bad input", "step limit"]
    assert [record["plan_length"] for record in found] == [2, None, None, None]
    assert [record["steps"] for record in found] == [2, 1, 0, 4]
    assert [record["objects"] for record in found] == [3, 4, None, 6]
    assert [record["states_evaluated"] for record in found] == [3, 2, None, 5]
    assert [record["seconds_per_step"] is None for record in found] == [False, False, True, False]
    assert {(record["domain"], record["model"]) for record in found} == {("corridor", "R-GNN[1]")}
    assert "parenthesis" in found[2]["message"]
    assert found[0]["model_sha256"] == sha256(model)
    assert found[0]["problem_sha256"] == sha256(problems[0])
    assert read_records(settings["records"]) == found  # one worker: in order
    assert seen == [True] * 4

    plan = tmp_path / "plans" / "p1.plan"
    assert list(plan.parent.iterdir()) == [plan]
    assert replay(load_problem(load_domain(DOMAIN), problems[0]), read_plan(plan))

    # Nothing is done twice, and no process starts.
    monkeypatch.setattr(attempt, "run_isolated", lambda function, jobs, **options: iter([None] * len(jobs)))
    seen.clear()
    assert evaluate(model, problems, **settings) == found
    assert seen == [False] * 4


def test_a_search_after_the_policy_is_another_attempt_than_the_policy_alone(
    folder: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    """After one step the policy gives up."""
    records, problems = tmp_path / "records.jsonl", [folder / "test" / name for name in ("p1.pddl", "p2.pddl")]
    settings: dict[str, Any] = {"records": records, "domain": folder / "domain.pddl", "max_steps": 1}
    alone = evaluate(folder / "model.safetensors", problems, **settings)
    settings |= {"search": "greedy", "max_states": 50, "improve": 5.0, "timeout": 60.0}
    found = evaluate(folder / "model.safetensors", problems, **settings)
    assert [record["outcome"] for record in alone] == ["step limit", "step limit"]
    assert [record["outcome"] for record in found] == ["solved", "unsolvable"]
    assert {(record["search"], record["max_states"], record["improve"]) for record in found} == {("greedy", 50, 5.0)}
    assert {(record["search"], record["max_states"], record["improve"]) for record in alone} == {(None, None, None)}
    assert [record["found_by"] for record in (*alone, *found)] == ["values", "values", "greedy", "greedy"]
    assert [record["states_known"] for record in (*alone, *found)] == [None, None, 3, 2]
    assert all(record["peak_gib"] for record in (*alone, *found))
    assert read_records(records) == [*alone, *found]

    table = run("table", records).stdout.splitlines()
    assert "By search" in table[0] and "values, then greedy, improved for 5 s  1 / 2 (50 %)" in table[3]
    words = ("--max-steps", 1, "--search", "greedy", "--max-states", 50, "--improve", 5, "--timeout", 60)
    result = run("evaluate", folder / "model.safetensors", problems[0], "--records", records, *words)
    assert "p1.pddl: solved by greedy in 2 steps" in result.stderr and "values, then greedy" in result.stdout
    assert len(read_records(records)) == 4  # it was done
    with pytest.raises(TrifoldError, match="no policy 'depth'"):
        evaluate(folder / "model.safetensors", problems, **settings | {"search": "depth"})


def test_a_job_returns_the_trajectory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON, and whatever it is: a search looks at more states than its plan has."""
    way = Trajectory(Outcome.SOLVED, ("(a)", "(b)"), (3.0, 2.0, math.inf), steps=3, evaluated=9, seconds=6.0)
    monkeypatch.setattr("trifold.evaluation.job.solve", lambda *arguments, **options: way)
    asked = SolveJob(str(folder / "model.safetensors"), str(folder / "test" / "p1.pddl"), device="cpu")
    answer = json.loads(json.dumps(solve_job(asdict(asked), lambda event: None)))
    assert Trajectory.from_json(answer) == way
    assert (way.plan, way.seconds_per_step) == (("(a)", "(b)"), 2.0)


@pytest.mark.parametrize(("words", "outcome"), [([], "stuck"), (["--strict"], "cycle")])
def test_strict_is_the_policy_without_memory(
    folder: Path, run: Callable[..., Any], tmp_path: Path, words: list[str], outcome: str
) -> None:
    """There is one way, there and back."""
    there_and_back = corridor(3, 0, 2).replace("(next c1 c2)", "(next c1 c0)")
    (tmp_path / "p.pddl").write_text(there_and_back)
    records = tmp_path / "records.jsonl"
    run("evaluate", folder / "model.safetensors", tmp_path / "p.pddl", "--records", records, *words)
    (record,) = read_records(records)
    assert (record["outcome"], record["steps"]) == (outcome, 1)


class FakeChildren:
    """In place of `run_isolated`: each job ends as the table says, after one step."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.results = results
        self.ran: list[str] = []

    def __call__(self, function: Any, jobs: Any, *, on_event: Any = None, **more: Any) -> Iterator[Any]:
        if function.endswith("describe_job"):
            about = {"model": "R-GNN[1]", "domain": "corridor", "device": "cpu", "hardware": "abacus"}
            yield Result(0, Outcome.FINISHED, about | {"origin": asdict(Origin(seed=3, seconds=60.0))}, "", 1.0)
            return
        for index, job in enumerate(jobs):
            self.ran.append(name := Path(job["problem"]).name)
            on_event(index, {"event": "step", "number": 0, "action": None, "value": float("inf")})
            on_event(index, {"event": "step", "number": 1, "action": "(go)", "value": 6.5})
            on_event(index, {"event": "warning", "message": "beware"})
            outcome, value, message = self.results[name]
            yield Result(index, Outcome(outcome), value, message, 2.0)


def solved(outcome: str = "solved") -> tuple[str, dict[str, Any], str]:
    way = Trajectory(Outcome(outcome), ("(go)",), (math.inf, 6.5), steps=1, evaluated=7, seconds=0.25)
    return "finished", asdict(way), ""


@pytest.mark.parametrize(
    ("result", "outcome", "message"),
    [
        (solved(), "solved", None),
        (solved("cycle"), "cycle", None),
        (solved("invalid plan"), "invalid plan", None),
        (("bad input", {"message": "bad", "place": "here", "remedy": None}, "bad"), "bad input", "bad\n  in: here"),
        (("timeout", None, "stopped after 5 s"), "timeout", "stopped after 5 s"),
        (("memory limit", None, "more than 1 GiB"), "memory limit", "more than 1 GiB"),
        (("crash", None, "the process was ended by SIGSEGV"), "crash", "the process was ended by SIGSEGV"),
    ],
)
def test_every_end_of_a_child_is_an_outcome(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    result: tuple[str, None, str] | tuple[str, dict[str, Any], str],
    outcome: str,
    message: str | None,
) -> None:
    problem = tmp_path / "p1.pddl"
    problem.write_text("any")
    monkeypatch.setattr(attempt, "run_isolated", FakeChildren({"p1.pddl": result}))
    (record,) = evaluate(problem, [problem], records=tmp_path / "records.jsonl", timeout=5.0, policy="strict")
    assert (record["outcome"], record["message"], record["warnings"]) == (outcome, message, "beware")
    assert record["plan_length"] == (1 if outcome == "solved" else None)
    assert (record["steps"], record["seconds"], record["initial_value"]) == (1, 2.0, None)
    assert (record["timeout"], record["policy"]) == (5.0, "strict")
    assert record["seconds_per_step"] == (0.25 if result[0] == "finished" else None)
    assert (record["hardware"], record["training_seed"], record["training_seconds"]) == ("abacus", 3, 60.0)
    assert record["training_command"] is None and record["command"]
    assert Outcome(record["outcome"])


def test_only_what_is_missing_is_attempted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["p1.pddl", "p2.pddl", "p3.pddl"]
    problems = [tmp_path / name for name in names]
    for problem in problems:
        problem.write_text(problem.name)
    children = FakeChildren(dict.fromkeys(names, solved()) | {"p2.pddl": ("crash", None, "oh")})
    monkeypatch.setattr(attempt, "run_isolated", children)

    def ran(problems: list[Path] = problems, **settings: Any) -> list[str]:
        children.ran.clear()
        records = evaluate(tmp_path / "p1.pddl", problems, records=tmp_path / "records.jsonl", **settings)
        assert [record["problem"] for record in records] == [problem.name for problem in problems]
        return children.ran

    assert ran(problems[:2]) == ["p1.pddl", "p2.pddl"]
    assert ran() == ["p2.pddl", "p3.pddl"]  # a crash is tried again
    children.results["p2.pddl"] = solved()
    assert ran() == ["p2.pddl"]
    assert ran() == []
    assert ran(max_steps=5) == names
    assert ran(plans=tmp_path / "plans") == names  # the plans are not there yet
    assert ran(plans=tmp_path / "plans") == []
    problems[2].write_text("changed")
    assert ran() == ["p3.pddl"]
    (tmp_path / "records.jsonl").write_bytes((tmp_path / "records.jsonl").read_bytes()[:-30])
    assert ran() == ["p3.pddl"]  # its record was torn


def test_evaluations_into_one_file_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["p1.pddl", "p2.pddl"]
    for name in names:
        (tmp_path / name).write_text(name)
    waits = threading.Event()

    class Slow(FakeChildren):
        def __call__(self, function: Any, jobs: Any, **options: Any) -> Iterator[Any]:
            for result in super().__call__(function, jobs, **options):
                waits.wait(60)  # until another has begun
                yield result

    monkeypatch.setattr(attempt, "run_isolated", Slow(dict.fromkeys(names, solved())))

    def run() -> list[Record]:
        files = [tmp_path / name for name in names]
        return evaluate(files[0], files, records=tmp_path / "records.jsonl", on_wait=waits.set)

    with ThreadPoolExecutor(2) as pool:
        first, second = [future.result() for future in [pool.submit(run), pool.submit(run)]]
    assert waits.is_set() and first == second == read_records(tmp_path / "records.jsonl")


def test_the_limits_hold_for_the_model_and_the_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p1.pddl").write_text("any")
    asked = []

    def children(function: str, jobs: list[dict[str, Any]], *, workers: int, limits: Limits) -> Iterator[Result]:
        asked.append(limits)
        outcome = Outcome.TIMEOUT if len(asked) == 1 else Outcome.MEMORY_LIMIT
        yield Result(0, outcome, None, "stopped after 5 s", 5.0)

    monkeypatch.setattr(attempt, "run_isolated", children)
    for error, remedy in ((TrifoldError, "raise --timeout"), (OutOfMemory, "raise --memory")):
        with pytest.raises(error, match=remedy):
            settings = {"records": tmp_path / "records.jsonl", "timeout": 5.0, "memory_gib": 2.0}
            evaluate(tmp_path / "p1.pddl", [tmp_path / "p1.pddl"], **settings)
    assert asked == [Limits(seconds=5.0, memory_gib=2.0)] * 2


def test_plans_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for part in "ab":
        (tmp_path / part).mkdir()
        (tmp_path / part / "p.pddl").touch()
    problems = [tmp_path / part / "p.pddl" for part in "ab"]
    with pytest.raises(TrifoldError, match=r"p\.plan"):
        evaluate(problems[0], problems, records=tmp_path / "records.jsonl", plans=tmp_path / "plans")


def test_a_bad_model_is_one_error_and_no_record(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TrifoldError, match="not a model file"):
        evaluate(folder / "domain.pddl", [folder / "test" / "p1.pddl"], records=tmp_path / "records.jsonl")
    with pytest.raises(TrifoldError, match="cannot read"):
        evaluate(folder / "none", [folder / "test" / "p1.pddl"], records=tmp_path / "records.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_the_time_limit_counts_the_loading_too(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_load.py").write_text("import time\n\ntime.sleep(600)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TRIFOLD_PLUGINS", "slow_to_load")
    job = SolveJob(str(folder / "model.safetensors"), str(folder / "test" / "p1.pddl"))
    (found,) = attempt_each([job], limits=Limits(seconds=0.1))
    assert found.trajectory.outcome is Outcome.TIMEOUT


@pytest.fixture(scope="module")
def run() -> Callable[..., Any]:
    app = typer.Typer(pretty_exceptions_enable=False)
    for command in (solve_command, evaluate_command, table_command):
        app.command()(command)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_solve_prints_the_plan_alone_to_standard_output(folder: Path, run: Callable[..., Any]) -> None:
    result = run("solve", folder / "model.safetensors", folder / "test" / "p1.pddl")
    assert result.exit_code == 0
    assert result.stdout == "(go c0 c1)\n(go c1 c2)\n; cost = 2 (unit cost)\n"
    assert "step 2  V" in result.stderr and "solved by values after 2 steps" in result.stderr


def test_solve_says_how_it_failed(folder: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    words = ("solve", folder / "model.safetensors", folder / "test" / "p2.pddl", "-o", plan, "--quiet", "--json")
    result = run(*words, "--search", "none")
    assert result.exit_code == Outcome.STUCK.exit_code
    assert result.stderr.startswith("stuck by values after 1 step,")
    answer = json.loads(result.stdout)
    assert (answer["outcome"], answer["actions"], answer["plan_file"]) == ("stuck", ["(go c2 c3)"], None)
    assert len(answer["values"]) == 2
    result = run(*words)
    assert result.exit_code == Outcome.UNSOLVABLE.exit_code and json.loads(result.stdout)["found_by"] == "turns"
    assert not plan.exists()


def test_solve_refuses_bad_input_before_it_starts(folder: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    model, problem = folder / "model.safetensors", folder / "test" / "p1.pddl"
    for arguments in [(model, tmp_path / "none"), (tmp_path / "none", problem), (model, problem, "-o", "none/plan")]:
        assert isinstance(run("solve", *arguments).exception, TrifoldError)


def test_evaluate_and_table_print_the_same(
    folder: Path, run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder / "test", tmp_path / "test")
    results = dict.fromkeys(PROBLEMS, solved()) | {"p2.pddl": ("timeout", None, "")}
    monkeypatch.setattr(attempt, "run_isolated", FakeChildren(results))
    records = tmp_path / "records.jsonl"
    result = run("evaluate", folder / "model.safetensors", tmp_path / "test", "--records", records)
    assert result.exit_code == 0
    assert "3 / 4 (75 %)" in result.stdout and "Timeout" in result.stdout
    assert result.stderr.startswith("[1/4] p1.pddl: solved in 1 step,")
    assert result.stderr.count("beware") == 1
    assert run("table", records).stdout == result.stdout
    assert json.loads(run("table", records, "--json").stdout)[0]["solved"] == 3
    assert run("table", records, "--format", "latex").stdout.startswith(r"\begin{tabular}")


def test_an_interrupt_keeps_the_records(
    folder: Path, run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(FakeChildren):
        def __call__(self, function: Any, jobs: Any, **options: Any) -> Iterator[Any]:
            for result in super().__call__(function, jobs, **options):
                yield result
                if function.endswith("solve_job"):
                    raise KeyboardInterrupt

    monkeypatch.setattr(attempt, "run_isolated", Interrupted(dict.fromkeys(PROBLEMS, solved())))
    records = tmp_path / "records.jsonl"
    result = run("evaluate", folder / "model.safetensors", folder / "test", "--records", records)
    assert result.exit_code == 130
    assert "goes on from there" in result.stderr
    assert [record["problem"] for record in read_records(records)] == ["p1.pddl"]


def test_commands_load_no_torch_by_themselves() -> None:
    modules = "trifold.evaluation, trifold.planning, trifold.commands.solve, trifold.commands.evaluate"
    check = f"import sys, {modules}; sys.exit(str({{'torch', 'pymimir'}} & sys.modules.keys() or ''))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_threads_are_those_that_were_asked_for_or_a_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[threads_each.__module__], "available_cores", lambda: 8)
    for asked, workers, threads in (("3", 1, 3), ("", 2, 4), ("0", 16, 1), ("many", 8, 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert threads_each(workers) == threads


def test_a_child_that_is_ended_while_it_looks_for_a_shorter_plan_has_the_last_one(monkeypatch: Any) -> None:
    def end(function: str, jobs: Any, *, on_event: Any, **more: Any) -> Any:
        on_event(0, {"event": "step", "number": 3, "action": "(go)", "value": 2.0})
        for plan in (["(a)", "(b)"], ["(c)"]):
            on_event(0, {"event": "plan", "actions": plan, "by": "turns"})
        yield Result(0, Outcome.TIMEOUT, None, "over 1 s", 1.0)

    monkeypatch.setattr(attempt, "run_isolated", end)
    (found,) = attempt_each([SolveJob("model", "problem")], limits=Limits(1.0))
    assert (found.trajectory.outcome, found.trajectory.plan, found.error) == (Outcome.SOLVED, ("(c)",), None)
    assert len(found.trajectory.values) == 2 and found.trajectory.found_length == 2
    assert found.trajectory.found_by == "turns"  # which the table counts


def test_a_child_tells_what_found_each_plan(folder: Path) -> None:
    told: list[dict[str, Any]] = []
    model, problem, domain = (str(folder / name) for name in ("model.safetensors", "test/p1.pddl", "domain.pddl"))
    job = SolveJob(model, problem, domain, "values", max_steps=1, search="greedy", max_states=50)
    (found,) = attempt_each([job], limits=Limits(60.0), on_event=told.append)
    events = [event for event in told if event["event"] == "plan"]
    assert events == [{"event": "plan", "actions": list(found.trajectory.plan or ()), "by": "greedy"}]


def test_a_model_in_memory_and_a_folder_give_what_its_file_and_the_files_give(folder: Path, tmp_path: Path) -> None:
    model = Model.load(folder / "model.safetensors")
    found = evaluate(model, folder / "test", domain=folder / "domain.pddl")
    files = [folder / "test" / name for name in ("p1.pddl", "p2.pddl", "p3.pddl", "p10.pddl")]
    expected = evaluate(folder / "model.safetensors", files, records=tmp_path / "r", domain=folder / "domain.pddl")
    same = ("problem", "outcome", "plan_length", "steps", "model", "model_sha256")
    assert [[one[name] for name in same] for one in found] == [[one[name] for name in same] for one in expected]  # type: ignore[literal-required]
    assert found[0]["model_path"] == repr(model) and len(read_records(tmp_path / "r")) == 4
