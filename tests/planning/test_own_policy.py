"""A policy of one's own, a search over V in one file, is a policy everywhere: in the API, evaluations and commands.

Nothing in the package knows of it: `best_first` is imported by its name, in child processes too.
"""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import trifold
from best_first import best_first
from trifold.commands import app
from trifold.errors import TrifoldError
from trifold.evaluation import evaluate
from trifold.model import Model, ModelConfig
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.planning import Step, read_plan, replay

NAME = "best_first:best_first"

DOMAIN = """
(define (domain fork)
  (:predicates (at ?x) (way ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (way ?x ?y)) :effect (and (at ?y) (not (at ?x)))))
"""
PROBLEM = """
(define (problem fork) (:domain fork) (:objects start left end right goal island)
  (:init (at start) (way start left) (way left end) (way start right) (way right goal)) (:goal (at PLACE)))
"""
PLAN = ("(go start right)", "(go right goal)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model, and a problem whose ways do not join again: a policy that goes wrong is stuck."""
    folder = tmp_path_factory.mktemp("fork")
    (folder / "domain.pddl").write_text(DOMAIN)
    for name, place in (("solvable", "goal"), ("unsolvable", "island")):
        (folder / f"{name}.pddl").write_text(PROBLEM.replace("PLACE", place))
    domain, config = load_domain(DOMAIN), ModelConfig(dim=2, layers=1)
    relations = config.build_encoder().signature(domain.signature)
    Model.fresh(config, domain.signature, DOMAIN, {name: 1 for name, _ in relations}, seed=0).save(folder / "model")
    return folder


def test_it_solves_where_a_greedy_policy_is_stuck(folder: Path) -> None:
    problem = load_problem(load_domain(DOMAIN), folder / "solvable.pddl")
    places = {state: name for name, state in _walk(problem).items()}
    order = ["left", "end", "start", "right", "goal"]

    def values(states: list[State]) -> list[float]:
        return [order.index(places[state]) for state in states]

    assert trifold.solve(problem, values).outcome == "stuck"
    for policy in (best_first, NAME):
        seen: list[Step] = []
        found = trifold.solve(problem, values, policy=policy, on_step=seen.append)
        assert (found.outcome, found.plan, found.values) == ("solved", PLAN, (2, 3, 4))
        assert (found.steps, found.evaluated) == (4, 5)  # it looked at the left way first, which is not in its plan
        assert [step.number for step in seen] == [0, 1, 2, 3, 4]
    assert trifold.solve(problem, values, policy=best_first, max_steps=3).outcome == "step limit"


def _walk(problem: Problem) -> dict[str, State]:
    """The states by the place that one is at."""
    found, queue = {"start": problem.initial_state}, [problem.initial_state]
    for state in queue:
        for action, successor in problem.successors(state):
            found[action[:-1].split()[-1]] = successor
            queue.append(successor)
    return found


def test_it_is_evaluated_by_name(folder: Path, tmp_path: Path) -> None:
    problems = [folder / "solvable.pddl", folder / "unsolvable.pddl"]
    solved, unsolvable = evaluate(
        folder / "model", problems, records=tmp_path / "records.jsonl", plans=tmp_path, policy=NAME
    )
    assert (solved["outcome"], solved["plan_length"], solved["policy"]) == ("solved", 2, NAME)
    assert solved["steps"] >= 2 and (solved["states_evaluated"] or 0) >= 4
    assert (unsolvable["outcome"], unsolvable["plan_length"], unsolvable["steps"]) == ("unsolvable", None, 5)
    assert replay(load_problem(load_domain(DOMAIN), problems[0]), read_plan(tmp_path / "solvable.plan"))


def test_the_commands_take_it(folder: Path, tmp_path: Path) -> None:
    words = ["solve", str(folder / "model"), str(folder / "solvable.pddl"), "--policy", NAME]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert (done.exit_code, tuple(done.stdout.splitlines()[:2])) == (0, PLAN)
    records = tmp_path / "records.jsonl"
    words = ["evaluate", str(folder / "model"), str(folder / "solvable.pddl"), "--records", str(records)]
    done = CliRunner().invoke(app, [*words, "--policy", NAME], catch_exceptions=False)
    assert done.exit_code == 0 and NAME in done.stdout and "1 / 1 (100 %)" in done.stdout


@pytest.mark.parametrize("name", ["nonsense", "best_first:nonsense"])
def test_a_policy_that_is_not_there_is_one_error_and_no_record(folder: Path, tmp_path: Path, name: str) -> None:
    problems = [folder / "solvable.pddl", folder / "unsolvable.pddl"]
    with pytest.raises(TrifoldError, match="nonsense"):
        evaluate(folder / "model", problems, records=tmp_path / "records.jsonl", policy=name)
    assert list(tmp_path.iterdir()) == []
    words = ["solve", str(folder / "model"), str(problems[0]), "--policy", name]
    assert "nonsense" in str(CliRunner().invoke(app, words).exception)


def test_a_command_takes_one_policy(folder: Path) -> None:
    words = ["solve", str(folder / "model"), str(folder / "solvable.pddl"), "--policy", NAME, "--strict"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and "--strict is short for --policy strict" in done.stderr
