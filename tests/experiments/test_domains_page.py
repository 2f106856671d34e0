"""The page of domains; that the one in the repository is what the suite makes is tested beside the suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from domains_page import count_states, domain_section
from trifold.domains import DOMAINS, draw_splits, split_texts, write_texts


def test_a_section_has_the_picture_and_a_row_for_each_split(tmp_path: Path) -> None:
    write_texts(tmp_path, split_texts("gripper", draw_splits("gripper")))
    section = domain_section("gripper", tmp_path, {"train": 1234})
    assert section.startswith("## gripper\n") and DOMAINS["gripper"].picture in section
    assert "| test | 18 | 20–54 | balls 16–50, start classic | – |\n" in section
    assert [line.endswith("| 1,234 |") for line in section.splitlines()[-3:]] == [True, False, False]


def test_states_are_read_from_labels(tmp_path: Path) -> None:
    labels = tmp_path / "labels.json"
    labels.write_text('[{"folder": "gripper/train", "states": 5}, {"folder": "gripper/test", "states": 7}]')
    assert count_states(labels) == {"gripper": {"train": 5, "test": 7}}


@pytest.mark.parametrize("row", ['{"folder": 5, "states": 1}', '{"folder": "a/b", "states": "x"}', "[" * 100_000])
def test_what_are_no_labels_of_a_suite_is_refused(row: str, tmp_path: Path) -> None:
    (tmp_path / "labels").write_text(f"[{row}]")
    with pytest.raises(SystemExit, match="these are no labels of a suite"):
        count_states(tmp_path / "labels")
