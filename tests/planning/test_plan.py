"""Plans: what is written is read back, no half of it is ever seen, and a replay says where it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.errors import TrifoldError
from trifold.planning import parse_plan, plan_text, read_plan, replay, write_plan

names = st.text("abcxyz019-_", min_size=1, max_size=6)
actions = st.lists(names, min_size=1, max_size=4).map(lambda words: f"({' '.join(words)})")


class Walk:
    """From 0 to 2 by (step)."""

    initial_state = 0

    def is_goal(self, state: int) -> bool:
        return state == 2

    def successors(self, state: int) -> list[tuple[str, int]]:
        return [("(step)", state + 1), ("(turn left)", state)]


@given(st.lists(actions))
def test_what_is_written_is_read_back(plan: list[str]) -> None:
    assert parse_plan(plan_text(plan)) == plan


@given(st.lists(actions))
def test_case_spacing_and_comments_do_not_matter(plan: list[str]) -> None:
    text = "; a plan\n\n" + "".join(f"  {action.upper().replace(' ', '   ')}\t; so\n\n" for action in plan)
    assert parse_plan(text) == plan


@pytest.mark.parametrize("line", ["pick-up a", "(pick-up a", "()", "( )", "(a) (b)", "((a))", ")a("])
def test_what_is_no_action_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(TrifoldError, match="line 2"):
        parse_plan(f"(good)\n{line}\n")


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "plan.txt"
    file.write_text("(old)")
    write_plan(file, ["(new)"])
    assert file.read_text() == "(new)\n; cost = 1 (unit cost)\n"
    assert read_plan(file) == ["(new)"]
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_write_leaves_the_old_plan_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plan.txt"
    file.write_text("(old)")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TrifoldError, match="No space left"):
        write_plan(file, ["(new)"])
    assert file.read_text() == "(old)"
    assert list(tmp_path.iterdir()) == [file]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        write_plan(pipe, ["(new)"])
        assert os.read(reader, 100) == b"(new)\n; cost = 1 (unit cost)\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["file/plan.txt", "folder"])
def test_no_plan_can_be_written_to_or_read_from_what_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(TrifoldError):
        write_plan(tmp_path / name, ["(new)"])
    with pytest.raises(TrifoldError):
        read_plan(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_plan_that_reaches_the_goal_replays() -> None:
    result = replay(Walk(), ["(step)", "(TURN  left)", "(step)"])
    assert result and result.steps == 3 and result.failure is None


def test_a_replay_says_where_and_why_it_fails() -> None:
    result = replay(Walk(), ["(step)", "(fly)", "(step)"])
    assert not result and result.steps == 1
    assert result.failure == "step 2: (fly) is not applicable"
    result = replay(Walk(), ["(step)"])
    assert not result and result.steps == 1
    assert "goal" in str(result.failure)
