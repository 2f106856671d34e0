"""`trifold explain` as a user runs it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from command_line import trifold
from trifold.domains import DOMAINS
from trifold.explanation import Explanation


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("gripper") / "problem.pddl"
    file.write_text(DOMAINS["gripper"].problem(random.Random(0), 2, start="classic"), encoding="utf-8")
    return file


def test_a_person_reads_the_verdict_first_and_gets_a_picture(problem: Path, tmp_path: Path) -> None:
    done = trifold("explain", "gripper", problem, "--plot", tmp_path / "way.svg", real=True)
    assert done.stdout.startswith(f"gripper by actions on {problem}: solved in 5 steps, which is optimal.\n")
    assert "> " in done.stdout and "optimal" in done.stdout
    assert "looking for V*" in done.stderr and "step 5" in done.stderr
    assert b"<svg" in (tmp_path / "way.svg").read_bytes()


def test_json_has_everything_and_the_exit_code_is_0_without_a_plan(problem: Path) -> None:
    done = trifold("explain", "gripper", problem, "--max-steps", 2, "--policy", "values", "--json", "--quiet")
    facts = json.loads(done.stdout)
    assert facts.pop("advice")[0]["kind"] == "limit" and done.stderr == ""
    found = Explanation.from_json(facts)
    assert found.outcome.value == "step limit" and len(found.steps) == 3
    assert [step.distance for step in found.steps] == [5, 4, 3]
    assert found.to_json() == facts


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_a_picture_is_what_its_name_says(problem: Path, tmp_path: Path, kind: str) -> None:
    trifold("explain", "gripper", problem, "--quiet", "--max-states", 0, "--plot", tmp_path / f"way.{kind}")
    assert (tmp_path / f"way.{kind}").read_bytes()[:5] in (b"\x89PNG\r", b"%PDF-")


def test_what_cannot_be_explained_is_an_error(problem: Path, tmp_path: Path) -> None:
    assert "PNG, SVG or PDF" in trifold("explain", "gripper", problem, "--plot", tmp_path / "way.txt", code=2).stderr
    assert "a problem of another domain" in trifold("explain", "grid", problem, code=2).stderr
    assert "stopped after 0 s" in trifold("explain", "gripper", problem, "--timeout", 0, code=6).stderr


def page_data(page: Path) -> dict[str, Any]:
    """The data of a page."""
    text = page.read_text(encoding="utf-8").split('<script type="application/json" id="data">')[1]
    found: dict[str, Any] = json.loads(text.split("</script>")[0])
    return found


def test_a_page_is_one_file_with_two_ways(problem: Path, tmp_path: Path) -> None:
    page, plan = tmp_path / "trace.html", tmp_path / "lama.plan"
    done = trifold("explain", "gripper", problem, "--html", page, "--beside", "gripper-values", "--quiet")
    assert done.stdout.startswith(f"gripper by actions on {problem}: solved in 5 steps")
    assert [trace["name"] for trace in page_data(page)["traces"]] == ["gripper by actions", "gripper-values by values"]
    trifold("solve", "gripper", problem, "-o", plan, "--quiet")
    trifold("explain", "gripper-values", problem, "--html", page, "--beside", plan, "--quiet")
    values, given = page_data(page)["traces"]
    assert given["name"] == "lama.plan, seen by gripper-values" and given["outcome"] == "solved"
    assert [step["distance"] for step in given["steps"]] == [5, 4, 3, 2, 1, 0]
    assert None not in [step["value"] for step in given["steps"]] and values["pairs"] == 1


def test_a_page_that_cannot_be_written_is_an_error(problem: Path, tmp_path: Path) -> None:
    assert "give --html" in trifold("explain", "gripper", problem, "--beside", "gripper", code=2).stderr
    nowhere = tmp_path / "nowhere" / "trace.html"
    assert "no such folder" in trifold("explain", "gripper", problem, "--html", nowhere, code=2).stderr
    done = trifold("explain", "gripper", problem, "--html", tmp_path / "t.html", "--beside", "lama.plam", code=2)
    assert done.stderr.startswith("error: cannot read this file: No such file")  # before any step, and no "model file"
    plan = tmp_path / "plan"
    plan.write_text("(move rooma rooma)\n(drop ball1 rooma left)\n", encoding="utf-8")
    done = trifold("explain", "gripper", problem, "--html", tmp_path / "t.html", "--beside", plan, "--quiet", code=2)
    assert "step 2 of the plan, (drop ball1 rooma left), is not applicable" in done.stderr
