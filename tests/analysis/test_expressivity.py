"""What small problems rule out: the findings that the paper's C₂ and C₃ lead one to expect, each with its witness."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from trifold.analysis import (
    ARCHITECTURES,
    Expressivity,
    Finding,
    Folklore,
    architectures,
    compare_architectures,
    plot_expressivity,
)
from trifold.analysis.expressivity import sample_evenly
from trifold.data import Labelled, LabelLimits, label
from trifold.domains import domain_text, write_problems
from trifold.encoders import Pairs, encode_all
from trifold.errors import TrifoldError
from trifold.pddl.state_space import AROUND
from trifold.wl import find_conflicts, refine

TWO_TOWERS = """
(define (problem two-towers) (:domain blocksworld-4ops) (:objects a b c d)
  (:init (arm-empty) (on-table a) (on-table b) (on-table c) (on-table d) (clear a) (clear b) (clear c) (clear d))
  (:goal (and (on a b) (on c d))))
"""
CITIES = "".join(
    f"(truck t{i}) (city c{i}) (airport a{i}) (location a{i}) (location l{i}) (in-city a{i} c{i}) (in-city l{i} c{i})"
    f" (at t{i} l{i})"
    for i in (0, 1, 2)
)
THREE_CITIES = f"""
(define (problem three-cities) (:domain logistics-strips)
  (:objects p1 p2 plane t0 c0 a0 l0 t1 c1 a1 l1 t2 c2 a2 l2)
  (:init {CITIES} (package p1) (package p2) (airplane plane) (at plane a0) (at p1 l1) (at p2 l2))
  (:goal (and (at p1 l1) (at p2 l2))))
"""
DEAD_END = """
(define (domain bridge) (:requirements :strips) (:predicates (home) (away) (safe) (lost ?x))
  (:action leave :parameters () :precondition (home) :effect (and (away) (not (home))))
  (:action arrive :parameters () :precondition (away) :effect (and (safe) (not (away))))
  (:action fall :parameters (?x) :precondition (and (away)) :effect (and (lost ?x) (not (away)))))
"""
LIMITS = LabelLimits(max_states=100_000)


def labelled(folder: Path, domain: str, *problems: Any) -> list[Labelled]:
    (folder / "domain.pddl").write_text(domain, encoding="utf-8")
    files = [folder / f"p{number}.pddl" for number in range(len(problems))]
    for file, text in zip(files, problems, strict=True):
        file.write_text(text, encoding="utf-8")
    return label(folder / "domain.pddl", files, limits=LIMITS, workers=1)


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> list[Labelled]:
    return labelled(tmp_path_factory.mktemp("blocks"), domain_text("blocks-m"), TWO_TOWERS)


@pytest.fixture(scope="module")
def logistics(tmp_path_factory: pytest.TempPathFactory) -> Expressivity:
    items = labelled(tmp_path_factory.mktemp("logistics"), domain_text("logistics"), THREE_CITIES)
    return compare_architectures(items, states=3_000, architectures=ARCHITECTURES[:4])


def by_name(result: Expressivity) -> dict[str, Finding]:
    return {finding.architecture: finding for finding in result.findings}


def test_blocks_need_pairs_to_see_that_on_and_its_goal_share_their_partner(blocks: list[Labelled]) -> None:
    result = compare_architectures(blocks)
    found = by_name(result)
    assert list(found) == ["R-GNN", "R-GNN[0]", "R-GNN[1]", "R-GNN[2]", "R-GNN₂", "2-GNN", "2-FWL (ET)"]
    assert [name for name, finding in found.items() if finding.ruled_out] == ["R-GNN"]
    assert (found["R-GNN"].depths[-1].conflicts, found["R-GNN"].enough_rounds) == (2, None)
    witness = found["R-GNN"].witness
    assert {"(on a b)", "(on c d)"} <= set(witness.first.atoms) and witness.first.value == 0
    assert {"(on a d)", "(on c b)"} <= set(witness.second.atoms) and witness.second.value == 6
    assert "R-GNN" not in witness.separated_by and witness.separated_by["R-GNN[0]"] == 2
    assert found["R-GNN[0]"].enough_rounds == 2 and found["R-GNN[0]"].witness.rounds == 1
    assert result.advice[0] is found["R-GNN[0]"]
    assert [finding.messages for finding in result.advice] == sorted(finding.messages for finding in result.advice)


def test_logistics_with_three_cities_needs_compositions_of_compositions(logistics: Expressivity) -> None:
    found = by_name(logistics)
    assert {name: finding.depths[-1].conflicts for name, finding in found.items()} == {
        "R-GNN": 24,
        "R-GNN[0]": 16,
        "R-GNN[1]": 4,
        "R-GNN[2]": 0,
    }
    witness = found["R-GNN[1]"].witness
    for state, carried in ((witness.first, ("t1", "t2")), (witness.second, ("t2", "t1"))):
        assert [atom for atom in state.atoms if atom.startswith("(in ")] == [
            f"(in p{package} {truck})" for package, truck in enumerate(carried, 1)
        ]
    assert (witness.first.value, witness.second.value) == (4, 15)
    assert witness.separated_by == {"R-GNN[2]": 2}
    assert [finding.architecture for finding in logistics.advice] == ["R-GNN[2]"]


def test_a_small_grid_rules_nothing_out_for_plain_r_gnn(tmp_path: Path) -> None:
    """Every cell is told apart by its place in the chains succ-x and succ-y; that is no proof for all sizes."""
    files = write_problems(tmp_path, "navig-xy", [8, 9], 0, per_size=2, moves=12)
    result = compare_architectures(label(tmp_path / "domain.pddl", files, limits=LIMITS, workers=1))
    plain = by_name(result)["R-GNN"]
    assert not plain.ruled_out and plain.depths[-1].least_error == 0
    assert result.advice[0] is plain
    assert set(result.left_out) == set() and plain.depths[0].conflicts > 0


def test_deeper_sees_no_less_and_the_depths_are_those_of_the_colouring(
    blocks: list[Labelled], logistics: Expressivity
) -> None:
    for finding in (*compare_architectures(blocks).findings, *logistics.findings):
        for before, after in zip(finding.depths, finding.depths[1:], strict=False):
            assert before.classes <= after.classes and before.conflicts >= after.conflicts
            assert before.least_error >= after.least_error
    shallow = by_name(compare_architectures(blocks, rounds=1))["R-GNN[1]"]
    space = blocks[0].space
    history = refine(encode_all(Pairs(1), space.structures()), 1).history
    expected = find_conflicts(history[1], torch.from_numpy(space.distances))
    (depth,) = shallow.depths
    assert (depth.classes, depth.conflicts) == (expected.classes, expected.conflicting)
    assert depth.least_error == expected.least_error


def test_a_sample_is_even_over_values(blocks: list[Labelled]) -> None:
    result = compare_architectures(blocks, states=20, architectures=ARCHITECTURES[:1])
    assert (result.states, result.available) == (20, 125)
    values = np.repeat([7, -1, 3], [100, 2, 5])
    counts = Counter(values[sample_evenly(values, 20, seed=1)].tolist())
    assert counts == {7: 13, -1: 2, 3: 5}
    assert sample_evenly(values, 1_000, seed=1).tolist() == list(range(107))
    with pytest.raises(TrifoldError, match="0 states"):
        compare_architectures(blocks, states=0)
    with pytest.raises(TrifoldError, match="no problem could be labelled"):
        compare_architectures([])


def test_dead_ends_count_with_a_target_above_all_others(tmp_path: Path) -> None:
    problem = "(define (problem p) (:domain bridge) (:objects x) (:init (home)) (:goal (and (safe) (not (home)))))"
    result = compare_architectures(labelled(tmp_path, DEAD_END, problem), rounds=2)
    assert (result.states, result.dead_ends) == (4, 1)
    assert not any(finding.ruled_out for finding in result.findings)
    none = compare_architectures(labelled(tmp_path, DEAD_END, problem), rounds=1, architectures=ARCHITECTURES[:1])
    assert none.findings[0].witness is None


def test_what_an_architecture_cannot_read_is_said(tmp_path: Path) -> None:
    files = write_problems(tmp_path, "rovers", [1], 0)
    result = compare_architectures(label(tmp_path / "domain.pddl", files, limits=LIMITS, workers=1), states=30)
    assert set(result.left_out) == {"2-GNN", "2-FWL (ET)"}
    assert "can_traverse/3" in result.left_out["2-GNN"]


def test_folklore_pairs_read_the_marks_of_the_edge_transformer(blocks: list[Labelled]) -> None:
    states = blocks[0].space.structures().take(torch.arange(3))
    encoded = Folklore()(states)
    assert encoded.atoms("@triangle").shape == (3 * 4**3, 3)
    assert ARCHITECTURES[-1].encode(states)[1] == 64  # one for each triple


def test_an_architecture_that_would_send_too_many_messages_is_left_out(
    blocks: list[Labelled], monkeypatch: pytest.MonkeyPatch
) -> None:
    space = blocks[0].space
    assert space is not None
    rows = {one.label: one.encode(space.structures())[0].message_rows() for one in ARCHITECTURES}
    messages = {one.architecture: one.messages for one in compare_architectures(blocks).findings}
    assert messages == {name: counts.double().mean() / (3 if "FWL" in name else 1) for name, counts in rows.items()}
    monkeypatch.setattr(architectures, "MESSAGES_TO_COLOUR", int(rows["R-GNN[0]"].sum()))
    result = compare_architectures(blocks)
    assert {one.architecture for one in result.findings} == {"R-GNN", "R-GNN[0]"}
    assert "messages a layer on 125 states" in result.left_out["R-GNN₂"]


def test_a_picture_is_drawn(blocks: list[Labelled]) -> None:
    assert plot_expressivity(compare_architectures(blocks, architectures=ARCHITECTURES[:2])).startswith(b"\x89PNG")


def test_bounds_of_v_are_no_conflicts(tmp_path: Path) -> None:
    """Around a plan V may be more than V*, so nothing is ruled out by it."""
    bounds, whole = (labelled(tmp_path, domain_text("blocks-m"), TWO_TOWERS)[0] for _ in range(2))
    assert bounds.space is not None
    bounds = replace(bounds, space=replace(bounds.space, engine=AROUND))
    assert compare_architectures([bounds, whole], rounds=2).problems == 1
    with pytest.raises(TrifoldError, match="all problems are too large"):
        compare_architectures([bounds], rounds=2)
