"""A domain from outside the package: its own PDDL and generate function, in the dict of domains and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from trifold.domains import (
    DOMAINS,
    PAPER,
    Counts,
    Generator,
    Split,
    draw_problems,
    draw_splits,
    problem_text,
    read_structure,
    split_texts,
    write_problems,
    write_texts,
)
from trifold.domains import generate as generate_problems
from trifold.domains.isomorphism import varying_predicates
from trifold.pddl import expand

LAMPS = """
(define (domain lamps)
  (:predicates (on ?l) (next ?l ?m))
  (:action switch-on :parameters (?l) :precondition (not (on ?l)) :effect (on ?l))
  (:action pass-on :parameters (?l ?m) :precondition (and (on ?l) (next ?l ?m)) :effect (and (on ?m) (not (on ?l)))))
"""


def generate(rng: random.Random, *, lamps: int = 3, lit: int = 0) -> str:
    """Lamps in a row of random order, of which the last is to be lit."""
    names = [f"lamp{number}" for number in range(lamps)]
    rng.shuffle(names)
    init = [f"next {one} {other}" for one, other in pairwise(names)]
    init += [f"on {name}" for name in rng.sample(names[:-1], lit)]
    return problem_text("lamps", domain="lamps", objects=sorted(names), init=init, goal=[f"on {names[-1]}"])


@pytest.fixture
def lamps() -> Iterator[Generator]:
    DOMAINS["lamps"] = Generator("lamps", "light the last lamp", LAMPS, generate)
    yield DOMAINS["lamps"]
    del DOMAINS["lamps"]


def test_problems_are_generated_written_and_solvable(lamps: Generator, tmp_path: Path) -> None:
    paths = write_problems(tmp_path, "lamps", [2, 3, 4], seed=0, per_size=2, lit=1)
    assert len(paths) == 6 and (tmp_path / "domain.pddl").read_text(encoding="utf-8") == LAMPS
    for path in paths:
        space = expand(tmp_path / "domain.pddl", path, 1000)
        assert space.distances[space.initial] == 1


def test_problems_that_differ_in_names_alone_are_drawn_again(lamps: Generator, tmp_path: Path) -> None:
    drawn = draw_problems("lamps", [{"lamps": 4, "lit": 1}] * 3, seed=0)
    write_texts(tmp_path, split_texts("lamps", {"": drawn}))
    assert len(list(tmp_path.glob("lamps-00?-lamps-4-lit-1.pddl"))) == 3
    assert len({len(expand(LAMPS, problem.text, 1000)) for problem in drawn}) >= 1


def test_it_is_in_no_suite_but_may_have_splits(lamps: Generator) -> None:
    assert "lamps" not in PAPER
    with pytest.raises(ValueError, match="lamps has no splits of its own"):
        draw_splits("lamps")
    sizes = {"train": 3, "validation": 4, "test": 6}
    DOMAINS["lamps"] = Generator("lamps", "", LAMPS, generate, suite=lambda split: [{"lamps": sizes[split]}])
    assert {split: drawn[0].objects for split, drawn in draw_splits("lamps").items()} == sizes


def test_splits_are_sizes_and_how_many_of_each(lamps: Generator, tmp_path: Path) -> None:
    counts: dict[Split, Counts] = {"train": {3: 1, (4, 1): 2}, "test": {8: 1}}
    DOMAINS["lamps"] = replace(lamps, suite=counts)
    assert DOMAINS["lamps"].sizes("train") == [{"lamps": 3}, {"lamps": 4, "lit": 1}, {"lamps": 4, "lit": 1}]
    paths = generate_problems("lamps", tmp_path, seed=3)
    assert [path.parent.name for path in paths] == ["train"] * 3 + ["test"]
    assert generate_problems("lamps", tmp_path, seed=3) == paths  # the same files, which stay
    with pytest.raises(ValueError, match="lamps has no split validation"):
        draw_splits("lamps", splits=("validation",))


def test_what_cannot_be_generated_is_said(lamps: Generator, tmp_path: Path) -> None:
    refused: dict[str, dict[str, Any]] = {
        "there is no domain lantern": {"domain": "lantern"},
        "lamps has no option height: one of lamps, lit": {"domain": "lamps", "height": 3},
        "a split has sizes of its own": {"domain": "lamps", "count": 3, "splits": ("train",)},
        "lamps has no splits of its own": {"domain": "lamps"},
    }
    for words, asked in refused.items():
        with pytest.raises(ValueError, match=words):
            generate_problems(out=tmp_path, **asked)
    assert list(tmp_path.iterdir()) == []


def test_conditional_effects_costs_and_either_are_understood() -> None:
    domain = """(define (domain d) (:action a :parameters (?x) :precondition (s ?x)
      :effect (and (when (r ?x) (and (p ?x) (not (q ?x)))) (forall (?y - t) (u ?y)) (increase (total-cost) 1)))
      (:action nothing :parameters ()))"""
    assert varying_predicates(domain) >= {"p", "q", "u"} and not varying_predicates(domain) & {"r", "s"}
    text = "(define (problem p) (:objects a - (either s t)) (:init (= (total-cost) 0) (q a)) (:goal (p a)))"
    assert read_structure(text).atoms == (("type (either s t)", ("a",)), ("init q", ("a",)), ("goal p", ("a",)))
