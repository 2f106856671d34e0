"""What the pages say is so: a test runs every block of code, and a command that none runs is one that there is."""

from __future__ import annotations

import random
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer._click.exceptions import ClickException

from page_blocks import ROOT, Block, blocks, check_command, commands, options_of

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"]
PAGES += [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))]

RUN_BY = {
    ("README.md", "python", 0): "tests/test_readme.py::test_the_python_example_runs",
    ("README.md", "py", 0): "tests/test_pages.py::test_unified_planning_solves_as_the_readme_says",
    ("docs/architecture.md", "python", 0): "tests/test_pages.py::test_what_the_architecture_page_adds_is_added",
    ("docs/architecture.md", "python", 1): "tests/test_pages.py::test_what_the_architecture_page_adds_is_added",
    ("docs/architecture.md", "python", 2): "tests/test_pages.py::test_what_the_architecture_page_adds_is_added",
    ("docs/cluster.md", "py", 0): "tests/test_pages.py::test_a_cluster_is_given_where_a_number_of_workers_is",
    (
        "docs/method.md",
        "pddl",
        0,
    ): "tests/experiments/test_site_states.py::test_the_example_has_the_pairs_that_the_page_tells",
    (
        "docs/method.md",
        "pddl",
        1,
    ): "tests/experiments/test_site_states.py::test_a_plain_network_is_blind_where_the_page_says_so",
    (
        "docs/method.md",
        "pddl",
        2,
    ): "tests/experiments/test_site_states.py::test_a_plain_network_is_blind_where_the_page_says_so",
    ("docs/own-domain.md", "pddl", 0): "tests/test_own_domain_page.py::folder",
    ("docs/own-domain.md", "python", 0): "tests/test_own_domain_page.py::folder",
    ("docs/recipes.md", "toml", 0): "tests/test_pages.py::test_the_recipe_of_ones_own_is_a_recipe",
    (
        "docs/study.md",
        "toml",
        0,
    ): "tests/commands/test_study_command.py::test_the_example_of_the_page_is_planned_done_and_told",
    ("docs/theorem.md", "python", 0): "tests/test_pages.py::test_the_joins_of_the_theorem_need_what_the_page_says",
    ("docs/tutorial.md", "pddl", 0): "tests/test_tutorial.py::test_every_command_of_the_tutorial_runs",
    ("docs/tutorial.md", "python", 0): "tests/test_tutorial.py::test_every_command_of_the_tutorial_runs",
}
"""Page, language and number of each block that is no shell, and the test that runs it."""

COMMANDS_RUN_BY = {
    "docs/examples.md": "tests/experiments/test_site.py::site",
    "docs/own-domain.md": "tests/test_own_domain_page.py::test_the_plugin_is_a_domain_of_the_command_line",
    "docs/tutorial.md": "tests/test_tutorial.py::test_every_command_of_the_tutorial_runs",
}
"""Pages whose commands a test runs."""

COMMANDS_NOT_RUN = {
    "README.md": "they take hours of a GPU, or are of a folder DIR: tests/commands runs each verb with its options",
    "benchmarks/README.md": "they take minutes of a quiet machine",
    "docs/cluster.md": "they are of a cluster that the reader has: tests/cluster/test_cluster.py has one of its own",
    "docs/parallel.md": "they are of cards that the reader has: tests/training/test_parallel.py starts torchrun",
    "docs/study.md": "they are of a file that the reader has: tests/commands/test_study_command.py",
    "docs/recipes.md": "they are of folders that the reader has, and train: tests/commands/test_train_command.py",
}
"""Why those of other pages are not: of these it is tested that there are such commands and options."""


def code(page: str, language: str) -> list[Block]:
    return [block for block in blocks(page) if block.language == language]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_by_a_test(page: str) -> None:
    numbers: dict[str, int] = {}
    for block in blocks(page):
        number = numbers.get(block.language, 0)
        numbers[block.language] = number + 1
        if block.language == "sh":
            assert (page in COMMANDS_RUN_BY) != (page in COMMANDS_NOT_RUN), page
        elif block.language in ("", "text"):  # what is printed, or drawn
            assert not re.search(r"^(\$ |trifold |make |python |pip |\.venv/)", block.text, re.MULTILINE), block
        else:
            path, _, name = RUN_BY[page, block.language, number].partition("::")
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


def test_nothing_is_said_of_blocks_that_are_not_there() -> None:
    for page, language, number in RUN_BY:
        assert len(code(page, language)) > number
    for page in (*COMMANDS_RUN_BY, *COMMANDS_NOT_RUN):
        assert code(page, "sh")
    for test in COMMANDS_RUN_BY.values():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "command"), [(page, command) for page in PAGES for command in commands(page)])
def test_every_command_is_one_that_there_is(page: str, command: str) -> None:
    check_command(command)


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_a_sentence_have_the_options_that_it_names(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in re.findall(r"`trifold ((?!-)[^`]+)`", text):
        words = found.split()
        named = {word.partition("=")[0] for word in words if word.startswith("-") and len(word) > 1}
        assert named <= options_of(words), found


@pytest.mark.parametrize(
    "command",
    [
        "trifold solv grid problem.pddl",
        "trifold solve grid problem.pddl --serach beam",
        "trifold generate chess",
        "python experiments/none.py",
        "python experiments/table.py --plans",
        "make coffee",
        "pip install '.[tea]'",
        "rm -r runs",
        "torchrun --nproc-per-node 2 -m trifold trian DIR",
        "sbatch --nodes=8 experiments/slurm.sh lable suite",
        "ray start --heads",
    ],
)
def test_a_command_that_there_is_not_is_found(command: str) -> None:
    with pytest.raises((AssertionError, ClickException)):
        check_command(command)


def test_the_joins_of_the_theorem_need_what_the_page_says() -> None:
    (block,) = code("docs/theorem.md", "python")
    names: dict[str, Any] = {}
    exec(block.text, names)
    assert f"# {names['needed']}" in block.text
    assert names["network"].layers == names["needed"].layers


def test_the_recipe_of_ones_own_is_a_recipe(tmp_path: Path) -> None:
    from trifold.training import read_recipe

    (block,) = code("docs/recipes.md", "toml")
    (tmp_path / "mine.toml").write_text(block.text)
    recipe = read_recipe(tmp_path / "mine.toml")
    assert (recipe.model.layers, recipe.settings.steps, recipe.settings.seeds) == (20, 5000, 3)


def test_what_the_architecture_page_adds_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    from trifold import domains, encoders, planning, structures

    encoder, policy, domain = code("docs/architecture.md", "python")
    monkeypatch.setattr(encoders, "ENCODERS", dict(encoders.ENCODERS))
    exec(encoder.text, {**vars(structures), "Structures": structures.Structures, "ENCODERS": encoders.ENCODERS})
    assert encoders.ENCODERS["mine"](1).label == "Mine"
    names: dict[str, Any] = {
        name: getattr(planning, name) for name in ("Task", "Scores", "Budget", "OnStep", "Trajectory")
    }
    exec(policy.text.replace("...", "return 'taken'"), names)
    assert names["mine"](None, None, None, None) == "taken"
    gripper = domains.DOMAINS["gripper"]
    monkeypatch.setattr(domains, "DOMAINS", dict(domains.DOMAINS))
    exec(domain.text, {"PDDL": gripper.pddl, "generate": gripper.generate})
    assert "ball2" in domains.DOMAINS["mine"].problem(random.Random(0), 2)


def test_a_cluster_is_given_where_a_number_of_workers_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trifold import cluster
    from trifold.domains import write_problems
    from trifold.evaluation import read_records

    (block,) = code("docs/cluster.md", "py")
    write_problems(tmp_path / "DIR", "gripper", [1], 0, split="test")
    monkeypatch.setattr(cluster, "join_cluster", lambda address: nullcontext(1))
    monkeypatch.chdir(tmp_path)
    exec("import trifold\n" + block.text.replace('"grid"', '"gripper"'), {})
    assert [record["outcome"] for record in read_records(Path("records.jsonl"))] == ["solved"]


def test_unified_planning_solves_as_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from trifold.domains import DOMAINS, domain_text

    (block,) = code("README.md", "py")
    (tmp_path / "domain.pddl").write_text(domain_text("gripper"))
    (tmp_path / "problem.pddl").write_text(DOMAINS["gripper"].problem(random.Random(0), 2, start="classic"))
    monkeypatch.chdir(tmp_path)
    exec(block.text, {})
    assert "pick(ball1" in capsys.readouterr().out
