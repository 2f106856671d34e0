"""benchmarks/lost_nodes.py: what is compared, what counts twice, and which processes are a node's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from blank_record import BLANK
from lost_nodes import Labels, Pass, Records, choose, descendants, prepare


def test_a_node_is_all_that_came_of_its_first_process() -> None:
    assert descendants(2, {2: 1, 3: 2, 4: 1, 5: 3, 6: 4}) == [3, 5]


def test_problems_are_taken_in_turns_of_the_domains(tmp_path: Path) -> None:
    for domain, count in (("a", 1), ("b", 3)):
        for split in ("train", "test"):
            (tmp_path / "suite" / domain / split).mkdir(parents=True)
            for number in range(count):
                (tmp_path / "suite" / domain / split / f"{number}.pddl").touch()
        (tmp_path / "suite" / domain / "domain.pddl").touch()
    suite, tests = prepare(tmp_path / "suite", tmp_path / "work", ["a", "b"], 3)
    found = [str(file.relative_to(tests)) for file in sorted(tests.rglob("*.pddl")) if file.stem != "domain"]
    assert found == ["a/0.pddl", "b/0.pddl", "b/1.pddl"]
    assert not list(suite.rglob("test")) and len(list(suite.rglob("train/*.pddl"))) == 4
    assert choose({}, 3) == []


def test_records_differ_by_what_they_say_and_not_by_times(tmp_path: Path) -> None:
    def found(*records: dict[str, object]) -> list[tuple[str, str]]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        (folder / "records").mkdir(parents=True)
        lines = [json.dumps(BLANK | {"schema": 1, "model_path": "m"} | record) + "\n" for record in records]
        (folder / "records" / "d.jsonl").write_text("".join(lines))
        work = Records(tmp_path, ["d"])
        assert work.count(folder) == len(records)
        return work.found(folder)

    here = found({"problem": "p", "seconds": 1.0}, {"problem": "q", "seconds": 1.0})
    assert found({"problem": "q", "seconds": 2.0}, {"problem": "p", "command": "x"}) == here[::-1]
    there = found({"problem": "p"}, {"problem": "p"}, {"problem": "q", "steps": 7})
    row = Pass("there", 3.2, there, ["lost", "lost"]).row(Pass("here", 1.0, here, []))
    assert row == ["there", "3", "3", "1", "1 of 2", "2 x lost"]


@pytest.mark.parametrize(("value", "seconds", "same"), [(1, 2.0, True), (2, 1.0, False)])
def test_labels_differ_by_their_arrays_and_not_by_times(tmp_path: Path, value: int, seconds: float, same: bool) -> None:
    work, both = Labels(tmp_path, 10), []
    for name, one, time in (("here", 1, 1.0), ("there", value, seconds)):
        (tmp_path / name / "cache").mkdir(parents=True)
        (tmp_path / name / "cache" / "k.json").write_text(json.dumps({"sha256": name, "states": 1, "seconds": time}))
        save_file({"values": np.array([one])}, tmp_path / name / "cache" / "k.safetensors")
        (tmp_path / name / "label-0.txt").write_text(json.dumps([{"folder": name, "states": 1, "seconds": time}]))
        both.append(work.found(tmp_path / name))
    assert work.count(tmp_path / "here") == 1
    assert (both[0] == both[1]) is same and both[0][1] == both[1][1]
