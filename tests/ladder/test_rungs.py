"""The table of rungs, and what the states of small problems rule out."""

from __future__ import annotations

from pathlib import Path

from trifold.analysis import compare_architectures
from trifold.data import label
from trifold.domains import write_problems
from trifold.ladder import RUNGS, Rung
from trifold.ladder.rungs import count_conflicts, rule_out


def test_each_rung_is_larger_than_the_one_before() -> None:
    """By the encoder, then by k, then by L: so what comes later can only be dearer."""
    order = [(-1 if rung.t is None else rung.t, rung.dim, rung.layers) for rung in RUNGS]
    assert order == sorted(order) and len(set(order)) == len(order)
    assert len({rung.name for rung in RUNGS}) == len(RUNGS)
    assert {rung.label for rung in RUNGS} == {"R-GNN", "R-GNN[0]", "R-GNN[1]"}
    for rung in RUNGS:
        kind = rung.encoder if rung.t is None else f"{rung.encoder}{rung.t}"
        assert rung.name == f"{kind}-{rung.dim}-{rung.layers}"
        assert rung.config.layers == rung.layers


def test_conflicts_are_those_that_expressivity_reports_at_the_depth_of_a_rung(tmp_path: Path) -> None:
    write_problems(tmp_path, "blocks-s", [3, 4], 0)
    labelled = label(tmp_path / "domain.pddl", sorted((tmp_path / "train").iterdir()))
    rungs = [Rung(f"plain-{layers}", "plain", None, 4, layers) for layers in (1, 2, 5)]
    found = count_conflicts([*rungs, Rung("pairs1-2", "pairs", 1, 4, 2)], labelled)
    report = {one.architecture: one.depths for one in compare_architectures(labelled).findings}
    for rung in rungs:
        depths = report["R-GNN"]
        assert found[rung.name] == depths[min(rung.layers, len(depths)) - 1].conflicts
    assert found["plain-1"] >= found["plain-5"] and found["plain-1"] > 0
    assert found["pairs1-2"] == report["R-GNN[1]"][1].conflicts


def test_a_rung_that_was_not_coloured_is_not_ruled_out() -> None:
    conflicts = {RUNGS[0].name: 3, RUNGS[1].name: 0}
    assert rule_out(RUNGS, conflicts) == [RUNGS[0]]
    assert rule_out(RUNGS, {}) == []
