"""`trifold generate` and `trifold domains` as a user runs them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trifold.commands import app, main
from trifold.domains import DOMAINS, SPLITS


def trifold(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Run the command as the shell does: exit code 2 and a message without a traceback."""
    monkeypatch.setattr("sys.argv", ["trifold", *map(str, words)])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 2
    return capsys.readouterr().err


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_problems_of_a_size(tmp_path: Path) -> None:
    said = trifold("generate", "gripper", "--balls", 5, "--count", 3, "--start", "random", "--out", tmp_path)
    assert said == f"{tmp_path}: 3 problems, 9 objects\n"
    assert names(tmp_path) == ["domain.pddl", *(f"gripper-00{i}-balls-5-start-random.pddl" for i in (1, 2, 3))]
    said = trifold("generate", "gripper", "--balls", 6, "--out", tmp_path)
    assert said == f"{tmp_path}: 1 problem, 10 objects; 3 other problems there before stay\n"
    assert len(names(tmp_path)) == 5


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_takes_the_options_of_its_generator(name: str, tmp_path: Path) -> None:
    options = DOMAINS[name].options
    words = [word for option in options.values() for word in (f"--{option.name.replace('_', '-')}", option.default)]
    trifold("generate", name, *words, "--seed", 7, "--out", tmp_path / "all")
    trifold("generate", name, "--count", 1, "--seed", 7, "--out", tmp_path / "none")
    (first,), (second,) = (
        [path for path in (tmp_path / f).iterdir() if path.stem != "domain"] for f in ("all", "none")
    )
    assert first.name == second.name and first.read_bytes() == second.read_bytes()


def test_splits_are_those_of_the_suite_for_seed_0_and_fresh_for_others(tmp_path: Path) -> None:
    trifold("generate", "blocks-m", "--out", tmp_path / "all")
    trifold("generate", "blocks-m", "--split", "test", "--out", tmp_path / "test")
    trifold("generate", "blocks-m", "--split", "test", "--seed", 1, "--out", tmp_path / "fresh")
    trifold("generate", "--suite", "paper", "--domain", "blocks-m", "--domain", "gripper", "--out", tmp_path / "suite")
    assert names(tmp_path / "all") == sorted(["domain.pddl", *SPLITS])
    assert names(tmp_path / "test") == ["domain.pddl", "test"]
    assert names(tmp_path / "suite") == ["MANIFEST.json", "blocks-m", "gripper"]
    for path in (tmp_path / "suite" / "blocks-m").rglob("*.pddl"):
        place = path.relative_to(tmp_path / "suite" / "blocks-m")
        assert path.read_bytes() == (tmp_path / "all" / place).read_bytes()
        if place.parts[0] == "test":
            assert path.read_bytes() == (tmp_path / "test" / place).read_bytes()
            assert path.read_bytes() != (tmp_path / "fresh" / place).read_bytes()


def test_drafts_from_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trifold("generate", "gripper", "--seed", 3, "--out", tmp_path / "here")
    monkeypatch.setattr("trifold.commands.drafts.FEW", 0)
    monkeypatch.setattr("trifold.commands.drafts.CHUNKS", 3)
    trifold("generate", "gripper", "--seed", 3, "--out", tmp_path / "processes")
    here, processes = (sorted((tmp_path / name).rglob("*.pddl")) for name in ("here", "processes"))
    assert len(here) == len(processes) == 44
    assert [path.read_bytes() for path in here] == [path.read_bytes() for path in processes]


def test_json(tmp_path: Path) -> None:
    said = json.loads(trifold("generate", "vacuum", "--locations", 8, "--reach", 6, "--out", tmp_path / "a", "--json"))
    assert said["domain"] == "vacuum" and "vacuum-001-locations-8-robots-2.pddl" in said["files"]
    said = json.loads(trifold("generate", "--suite", "paper", "--domain", "gripper", "--out", tmp_path / "b", "--json"))
    assert said["domains"].keys() == {"gripper"} and len(said["files"]) == 44
    assert [domain["name"] for domain in json.loads(trifold("domains", "--json"))] == list(DOMAINS)
    said = json.loads(trifold("domains", "gripper", "--json"))
    assert said["options"] == {"balls": 4, "start": "random"} and len(said["splits"]["test"]) == 18


def test_domains_are_listed_and_shown() -> None:
    listed = trifold("domains").splitlines()
    assert [line.split()[0] for line in listed] == list(DOMAINS)
    shown = trifold("domains", "gripper")
    assert DOMAINS["gripper"].picture in shown
    assert "test         18 problems: balls 16–50, start classic" in shown


def test_help_explains_the_options_of_a_generator() -> None:
    said = trifold("generate", "visitall", "--help")
    assert "--share" in said and "100 asks for all cells" in said and "--split" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["generate"], "give a domain, or --suite paper --out DIR"),
        (["generate", "--suite", "paper"], "give a domain, or --suite paper --out DIR"),
        (["generate", "--suite", "paper", "--domain", "chess", "--out", "OUT"], "there is no domain chess"),
        (["generate", "--suite", "paper", "gripper", "--out", "OUT"], "options of a domain come after its name"),
        (["generate", "blocks-m", "--blocks", "1", "--out", "OUT"], "at least 2 blocks"),
        (["generate", "blocks-m", "--blocks", "5", "--split", "test", "--out", "OUT"], "a split has the sizes"),
        (["generate", "gripper", "--start", "nowhere", "--out", "OUT"], "--start"),
        (["generate", "gripper"], "--out"),
        (["generate", "chess", "--out", "OUT"], "chess"),
        (["domains", "chess"], "there is no domain chess"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    said = refused(monkeypatch, capsys, *(str(out) if word == "OUT" else word for word in words))
    assert message in said and not out.exists()


def test_nothing_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trifold("generate", "blocks-m", "--blocks", 4, "--out", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    trifold("generate", "blocks-m", "--blocks", 4, "--out", tmp_path)  # the same again is no change
    said = refused(monkeypatch, capsys, "generate", "blocks-m", "--blocks", 4, "--seed", 1, "--out", tmp_path)
    assert "another file is there" in said and "blocks-m-001-blocks-4-tallest-2.pddl" in said
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    said = refused(monkeypatch, capsys, "generate", "gripper", "--balls", 4, "--out", tmp_path / "domain.pddl")
    assert "cannot write" in said


def test_a_changed_suite_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("trifold.domains.suite.SEED", 1)
    monkeypatch.setattr(sys.modules["trifold.commands.generate"], "frozen_hashes", lambda: {"gripper": "other"})
    said = refused(monkeypatch, capsys, "generate", "--suite", "paper", "--domain", "gripper", "--out", tmp_path)
    assert "not what was frozen: gripper" in said
