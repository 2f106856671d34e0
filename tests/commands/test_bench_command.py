"""`trifold bench` as a user runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from command_line import trifold
from trifold.domains import write_problems
from trifold.native import obstacle

SMALL = ("--dim", 8, "--layers", 2, "--batch", 2, "--seconds", 0, "--threads", 1, "--device", "cpu")
STAGES = ["labelling", "encoding", "batching", "training step", "policy step", "first plan"]

PLANNER = """\
import sys
from pathlib import Path
from trifold.pddl import load_domain, load_problem
if "--version" in sys.argv:
    sys.exit(print("24.06"))
assert "lama-first" in sys.argv
problem = load_problem(load_domain(Path(sys.argv[-2])), Path(sys.argv[-1]))
plans = {problem.initial_state: []}
queue = [problem.initial_state]
for state in queue:
    if problem.is_goal(state):
        break
    for action, successor in problem.successors(state):
        if successor not in plans:
            plans[successor] = [*plans[state], action]
            queue.append(successor)
Path(sys.argv[sys.argv.index("--plan-file") + 1]).write_text("\\n".join(plans[state]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_problems(tmp_path, "gripper", [1, 2], 0)
    return tmp_path


def bench(*words: object, code: int = 0, real: bool = False) -> CompletedProcess[str]:
    return trifold("bench", *words, code=code, real=real)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_json_has_every_stage(folder: Path, tmp_path: Path) -> None:
    planner = script(tmp_path / "fast-downward.py", PLANNER)
    words = (folder, *SMALL, "--batch", 3, "--json", "--planner", planner)
    done = bench(*words)
    assert "policy step of gripper-02-00.pddl" in done.stderr.splitlines()
    report = json.loads(done.stdout)
    rows = report["rows"]
    assert list(dict.fromkeys(row["stage"] for row in rows)) == STAGES
    timed = [row for row in rows if not (obstacle() and row["what"].endswith("compiled"))]
    assert all(row["seconds"]["median"] > 0 for row in timed)
    named = {row["what"].strip(): row for row in rows}
    assert named["batch 2, reference"]["floor"]["flops"] > 0 and "batch 3, reference" in named
    network, reference = named["of it network"], named["network, reference"]
    assert network["against"] == reference["against"] == "scatter" and network["floor"] == reference["floor"]
    assert reference["done_floor"] is None
    if obstacle():  # torch does it, whose products are counted; not so those of the compiled library
        assert 0 < network["done_floor"]["flops"] <= network["floor"]["flops"]
    else:
        assert network["done_floor"] is None and "q of 2 actions, compiled" in named
    assert named["LAMA, the whole problem"]["note"].endswith(" steps")
    assert report["settings"]["model"] == "R-GNN[1]" and report["conditions"]["threads"] == 1
    assert report["sizes"]["policy step"]["successors"] > 0


def test_bad_input_is_an_error() -> None:
    done = bench("grippr", code=2, real=True)
    assert "neither a domain nor a folder" in done.stderr and done.stdout == ""
