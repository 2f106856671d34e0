"""Labels: outcomes by name, and a cache that is hit, missed and repaired."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from trifold.data import LabelLimits, labels
from trifold.data.labels import Labelled, _look_up, default_cache, label
from trifold.errors import TrifoldError
from trifold.outcomes import Outcome
from trifold.pddl import expand
from trifold.processes import Result
from trifold.sealed import seal, write_object

DOMAIN = """(define (domain switches) (:predicates (on ?x) (stuck ?x) (dud ?x))
  (:action flip :parameters (?x) :precondition (not (stuck ?x)) :effect (on ?x))
  (:action jam :parameters (?x) :precondition (not (on ?x)) :effect (stuck ?x)))
"""


def problem(switches: int, goal: str = "(on s0)") -> str:
    names = " ".join(f"s{i}" for i in range(switches))
    return f"(define (problem p{switches}) (:domain switches) (:objects {names}) (:init) (:goal {goal}))"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    texts = {
        "one": problem(1),
        "two": problem(2),
        "five": problem(5),
        "never": problem(2, "(and (on s0) (stuck s0) (not (stuck s0)))"),
        "static": problem(2, "(dud s0)"),
        "broken": "(define (problem",
        "foreign": problem(1).replace("switches", "gripper"),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.pddl").write_text(text)
    return tmp_path


def run(folder: Path, names: list[str], cache: Path | None = None, **limits: float) -> list[Labelled]:
    bounds = LabelLimits(**limits)  # type: ignore[arg-type]
    paths = [folder / f"{name}.pddl" for name in names]
    return label(folder / "domain.pddl", paths, limits=bounds, workers=2, cache=cache)


def test_each_problem_gets_its_outcome_in_the_order_given(folder: Path) -> None:
    seen: list[Labelled] = []
    names = ["broken", "two", "five", "never", "static", "foreign", "missing", "one"]
    results = label(
        folder / "domain.pddl",
        [folder / f"{name}.pddl" for name in names],
        limits=LabelLimits(max_states=100),
        workers=2,
        on_progress=seen.append,
    )
    assert [result.path.stem for result in results] == names
    assert [result.outcome for result in results] == [
        "bad input", "labelled", "state limit", "unsolvable", "unsolvable", "bad input", "bad input", "labelled"
    ]  # fmt: skip
    assert sorted(map(id, seen)) == sorted(map(id, results))
    assert all((result.space is not None) == (result.outcome == "labelled") for result in results)
    assert all(result.message for result in results if result.outcome != "labelled")
    assert "another domain" in results[5].message and str(folder / "foreign.pddl") in results[5].message
    two = results[1]
    assert (two.states, two.dead_ends, two.max_distance, two.cached) == (9, 3, 1, False)
    assert two.space and two.space.distances.tolist() == expand(DOMAIN, problem(2), 100).distances.tolist()


def test_what_was_labelled_before_is_read_again(folder: Path) -> None:
    names, cache = ["one", "five", "static", "broken", "two"], folder / "deep" / "cache"
    first = run(folder, names, cache, max_states=100)
    again = run(folder, names, cache, max_states=100)
    assert not any(result.cached for result in first)
    assert [result.cached for result in again] == [True, True, True, False, True]
    for one, other in zip(first, again, strict=True):
        assert (one.outcome, one.states, one.dead_ends) == (other.outcome, other.states, other.dead_ends)
        assert one.message == other.message
    assert first[0].space and again[0].space
    assert again[0].space.structures().arguments.equal(first[0].space.structures().arguments)
    assert not list(cache.glob(".*"))


def test_a_crash_is_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(function, jobs, **options):  # type: ignore[no-untyped-def]
        yield Result(0, Outcome.CRASH, None, "the process was ended by SIGSEGV", 1.0)

    cache = folder / "cache"
    with monkeypatch.context() as patched:
        patched.setattr(labels, "run_isolated", crash)
        assert run(folder, ["two"], cache)[0].outcome == "crash"
    (again,) = run(folder, ["two"], cache)
    assert (again.outcome, again.cached) == ("labelled", False)


def test_an_entry_with_an_older_word_is_read(folder: Path) -> None:
    cache = folder / "cache"
    (folder / "large.pddl").write_text(problem(14))
    run(folder, ["large"], cache, seconds=0.2)
    (entry,) = cache.glob("*.json")
    facts = json.loads(entry.read_bytes()) | {"outcome": "time limit"}
    del facts["sha256"]
    entry.write_bytes(seal(write_object(facts).encode()))
    (again,) = run(folder, ["large"], cache, seconds=0.2)
    assert (again.outcome, again.cached) == (Outcome.TIMEOUT, True)


def test_another_text_or_limit_is_another_entry(folder: Path) -> None:
    cache = folder / "cache"
    run(folder, ["two"], cache, max_states=100)
    assert not run(folder, ["two"], cache, max_states=101)[0].cached
    assert run(folder, ["two"], cache, max_states=100)[0].cached
    (folder / "two.pddl").write_text(problem(2) + "\n")
    assert not run(folder, ["two"], cache, max_states=100)[0].cached
    (folder / "domain.pddl").write_text(DOMAIN + "; changed")
    assert not run(folder, ["two"], cache, max_states=100)[0].cached


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_a_damaged_entry_is_computed_again(folder: Path, suffix: str, damage: str) -> None:
    cache = folder / "cache"
    (whole,) = run(folder, ["two"], cache)
    (entry,) = cache.glob(f"*{suffix}")
    if damage == "gone":
        entry.unlink()
    else:
        entry.write_bytes(entry.read_bytes()[: 0 if damage == "empty" else -7])
    (again,) = run(folder, ["two"], cache)
    assert (again.outcome, again.cached, again.states) == ("labelled", False, whole.states)
    assert run(folder, ["two"], cache)[0].cached


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
def test_a_flipped_bit_is_noticed_wherever_it_is(folder: Path, suffix: str) -> None:
    """In any bit of any fifth byte, an entry is never used."""
    cache = folder / "cache"
    run(folder, ["one"], cache)
    (entry,) = cache.glob(f"*{suffix}")
    whole = entry.read_bytes()
    for place in range(0, len(whole), 5):
        entry.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        assert _look_up(folder / "one.pddl", entry.with_suffix("")) is None
    entry.write_bytes(whole)
    assert _look_up(folder / "one.pddl", entry.with_suffix(""))


def test_a_cache_that_cannot_be_read_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = folder / "cache"
    run(folder, ["one"], cache)

    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(labels, "open_regular", refuse)  # permissions do not stop root
    with pytest.raises(TrifoldError, match=r"the cache cannot be read: Permission denied\n  in: .*\.json"):
        run(folder, ["one"], cache)


@pytest.mark.real_children
def test_limits_of_time_and_memory_are_outcomes(folder: Path) -> None:
    (folder / "large.pddl").write_text(problem(40))
    assert run(folder, ["large"], seconds=0.2)[0].outcome is Outcome.TIMEOUT
    small, large = run(folder, ["two", "large"], memory_gib=0.35, max_states=10**8)
    assert (small.outcome, large.outcome) == ("labelled", "memory limit")


def test_a_domain_or_a_cache_that_cannot_be_used_is_an_error(folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(TrifoldError, match="cache folder"):
        run(folder, ["one"], folder / "file" / "cache")
    (folder / "domain.pddl").write_text("(define (domain")
    with pytest.raises(TrifoldError, match="never closed"):
        run(folder, ["one"])


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRIFOLD_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "trifold"
    monkeypatch.setenv("TRIFOLD_CACHE", str(tmp_path / "own"))
    assert default_cache() == tmp_path / "own"


def test_a_problem_beyond_the_limit_is_labelled_around_the_plan_beside_it(folder: Path) -> None:
    cache, plan = folder / "cache", folder / "five.plan"
    assert run(folder, ["five"], cache, max_states=100)[0].outcome == "state limit"
    plan.write_text("; a detour\n(FLIP s1)\n(flip s0)\n")
    (first,) = run(folder, ["five"], cache, max_states=100)
    (again,) = run(folder, ["five"], cache, max_states=100)
    (whole,) = run(folder, ["five"], cache)
    for item in (first, again):
        assert item.outcome == "labelled" and item.space is not None and item.space.is_bound
        assert "more than 100 states: V is of ways around a plan" in item.message
        assert item.space.listed >= 1 and item.kept == len(item.space) <= item.states < whole.states
        assert item.space.distances[item.space.initial] == 1
    assert (first.cached, again.cached) == (False, True) and first.digest == again.digest != whole.digest
    assert whole.space is not None and not whole.space.is_bound and whole.message == ""
    plan.write_text("(flip s0)")
    (other,) = run(folder, ["five"], cache, max_states=100)
    assert not other.cached and other.digest not in (first.digest, whole.digest)
    (folder / "two.plan").write_bytes(b"\xff which no one reads, as there are few states")
    assert run(folder, ["two"], cache, max_states=100)[0].space is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"flip s0", "is not an action"),
        (b"\xff\xfe(flip s0)", "is not an action"),
        (b"(flip s9)", "an action of it is not applicable"),
    ],
)
def test_what_is_no_plan_is_told_and_not_kept(folder: Path, text: bytes, why: str) -> None:
    (folder / "five.plan").write_bytes(text)
    for _ in range(2):
        (found,) = run(folder, ["five"], folder / "cache", max_states=100)
        assert (found.outcome, found.cached) == ("bad input", False) and why in found.message
        assert f"try: remove {folder / 'five.plan'}" in found.message
