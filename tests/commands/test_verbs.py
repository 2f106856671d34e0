"""What all verbs share: their order, the words of their options, completion, and where they can be run from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from typer.testing import CliRunner

from trifold.commands import app

SOURCE = Path(__file__).parents[2] / "src"
GROUP: Any = cast(Any, typer.main.get_command(app))
ORDER = ["domains", "generate", "label", "train", "select", "solve", "evaluate", "table", "report"]
SHOW_NO_PROGRESS = {"models", "domains", "table"}


def commands() -> dict[str, Any]:
    """Every verb, and each domain of `generate`."""
    inner = {f"generate {name}": command for name, command in GROUP.commands["generate"].commands.items()}
    return dict(GROUP.commands) | inner


def test_the_help_lists_the_verbs_in_the_order_of_their_use() -> None:
    listed = GROUP.list_commands(None)
    assert [verb for verb in listed if verb in ORDER] == ORDER
    assert sorted(listed) == sorted(GROUP.commands)


def test_the_help_tells_each_verb_in_a_whole_sentence() -> None:
    told = CliRunner().invoke(app, ["--help"]).output.split("Commands:")[1]
    assert "..." not in told and told.count(".\n") >= len(GROUP.commands)
    assert "Say which architectures of the paper are ruled out for a domain" in " ".join(told.split())


def test_an_option_that_verbs_share_takes_the_same_in_each() -> None:
    for name, same_default in {
        "--quiet": True,
        "--json": True,
        "--workers": True,
        "--device": True,
        "--timeout": False,
        "--memory": False,
        "--policy": True,
    }.items():
        found = [option for command in commands().values() for option in command.params if name in option.opts]
        assert len({(option.is_flag, option.nargs, option.multiple) for option in found}) == 1, name
        assert not same_default or len({option.default for option in found}) == 1, name


def test_policies_give_up_after_as_many_steps_in_every_verb() -> None:
    defaults = {
        verb: option.default
        for verb, command in commands().items()
        for option in command.params
        if "--max-steps" in option.opts
    }
    assert defaults == {
        "solve": 1000,
        "explain": 1000,
        "evaluate": 1000,
        "select": None,
    }  # a run's recipe may say otherwise
    assert "or 1000" in next(o.help for o in GROUP.commands["select"].params if "--max-steps" in o.opts)


@pytest.mark.parametrize("verb", sorted(set(commands()) - SHOW_NO_PROGRESS))
def test_what_shows_progress_can_be_quiet(verb: str) -> None:
    assert any("--quiet" in option.opts and "-q" in option.opts for option in commands()[verb].params)


def test_words_are_completed() -> None:
    run = "import sys; sys.argv[0] = 'trifold'; from trifold.__main__ import main; main()"
    asked = {"_TRIFOLD_COMPLETE": "complete_bash", "COMP_WORDS": "trifold generate gri", "COMP_CWORD": "2"}
    done = subprocess.run([sys.executable, "-c", run], env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout.split() == ["gripper", "grid"]


def test_a_source_tree_runs_as_it_is_and_says_what_is_missing(tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, SOURCE / "trifold", "--version"], env=bare, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout[:8], done.stderr) == (0, "trifold ", "")
    missing = [sys.executable, "-S", "-E", str(SOURCE / "trifold"), "--version"]  # without what is installed
    done = subprocess.run(missing, env=bare, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "there is no typer" in done.stderr and "pip install ." in done.stderr
