"""The paper's numbers agree with each other and with what is known of its instances."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trifold.domains import PAPER, domain_text
from trifold.evaluation.published import OWN_FILES, PUBLISHED, Published, are_own_files, published_rows
from trifold.pddl import load_domain

OPTIMAL_TOTALS = {"blocks-s": 668, "blocks-m": 824, "gripper": 1764, "miconic": 1342}


@pytest.mark.parametrize("row", PUBLISHED.values(), ids=lambda row: f"{row.domain} {row.model}")
def test_a_row_agrees_with_itself(row: Published) -> None:
    assert 0 <= row.solved <= row.instances
    if row.total is None:
        assert row.median is None and row.mean is None and (row.solved == 0 or row.domain == "navig-xy")
        return
    assert row.mean == row.total // row.solved  # truncated
    assert row.median is not None and (row.median % 1 == 0 or row.solved % 2 == 0)
    # Half of the plans are at least as long as the median, and none is shorter than nothing.
    assert row.total >= row.median * ((row.solved + 1) // 2)
    if row.solved == row.instances:
        assert row.total >= OPTIMAL_TOTALS.get(row.domain, 0)


def test_all_rows_of_a_domain_are_about_the_same_instances() -> None:
    for domain in PAPER:
        assert len({row.instances for row in PUBLISHED.values() if row.domain == domain}) == 1


def test_every_domain_has_the_three_architectures_that_are_compared() -> None:
    assert len(PAPER) == 11 and set(OWN_FILES) < set(PAPER)
    assert tuple(dict.fromkeys(domain for domain, _ in PUBLISHED)) == PAPER
    for domain in PAPER:
        assert {(domain, model) for model in ("R-GNN", "R-GNN[0]", "R-GNN[1]")} <= PUBLISHED.keys()


def test_coverages_of_the_text_on_navig_xy() -> None:
    """The paper gives percentages, truncated."""
    for model, percent in {"R-GNN": 59.72, "R-GNN[0]": 80.55, "R-GNN[1]": 100.0, "ET": 4.16}.items():
        row = PUBLISHED["navig-xy", model]
        assert row.policy == "strict" and int(10_000 * row.solved / row.instances) / 100 == percent


def test_domains_are_known_by_their_names_in_pddl_and_the_papers_files_by_their_hash() -> None:
    for domain in PAPER:
        name = load_domain(domain_text(domain)).name
        assert published_rows(name) == tuple(row for row in PUBLISHED.values() if row.domain == domain) != ()
    assert published_rows("ferry") == ()
    listed = (Path(__file__).parents[2] / "docs" / "instances.md").read_text(encoding="utf-8")
    for domain, digest in OWN_FILES.items():
        assert re.search(rf"\| {domain}/test \| {PUBLISHED[domain, 'R-GNN'].instances} \|.*`{digest}`", listed)
    files = {"b.pddl": "2" * 64, "a.pddl": "1" * 64}
    assert not are_own_files("gripper", files) and not are_own_files("grid", {})
