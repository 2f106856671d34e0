"""JSON lines: what a crash tears is no line, whatever the lines hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifold.errors import TrifoldError
from trifold.lines import append_line, read_lines


def read(path: Path) -> list[dict[str, object]]:
    return read_lines(path, "step", lambda line: line, what="a line of metrics", remedy="restore it")


def test_a_line_torn_anywhere_is_left_out_and_the_next_starts_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = [{"step": step, "loss": step / 3, "word": "gö"} for step in range(3)]
    append_line(path, lines[0])
    whole = path.stat().st_size
    append_line(path, lines[1])
    content = path.read_bytes()
    for size in range(whole, len(content) + 1):
        path.write_bytes(content[:size])
        append_line(path, lines[2])
        assert read(path) == ([*lines] if size >= len(content) - 1 else [lines[0], lines[2]])


@pytest.mark.parametrize("content", ['{"step": 1}\n{"loss": \n', "[1]\n", "step\n", '{"step": NaN}\n'])
def test_a_file_of_other_lines_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "other").write_text(content)
    with pytest.raises(TrifoldError, match=r"line \d is not a line of metrics"):
        read(tmp_path / "other")


def test_numbers_that_json_lacks_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        append_line(tmp_path / "metrics.jsonl", {"step": 1, "loss": float("nan")})
