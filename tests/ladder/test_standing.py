"""What is kept: laws of the rule, on any standings."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from trifold.ladder.standing import NEAR, Standing, as_good_as_the_best, is_enough, keep, milliseconds

PROBLEMS = ("a", "b", "c")
LENGTHS = st.fixed_dictionaries({problem: st.none() | st.integers(0, 40) for problem in PROBLEMS})
SECONDS = st.dictionaries(st.sampled_from(PROBLEMS), st.floats(1e-6, 10))
STANDINGS = st.dictionaries(
    st.sampled_from("pqrst"), st.builds(Standing, LENGTHS, st.integers(0, 3), SECONDS), min_size=1
)


@given(STANDINGS)
def test_nothing_that_is_kept_solves_less_and_nothing_as_good_is_cheaper(standings: dict[str, Standing]) -> None:
    kept, good, costs = keep(standings), as_good_as_the_best(standings), milliseconds(standings)
    assert kept in good
    assert standings[kept].coverage == max(standing.coverage for standing in standings.values())
    assert costs.get(kept, float("inf")) == min(costs.get(name, float("inf")) for name in good)


@given(STANDINGS)
def test_plans_of_what_is_as_good_are_nearly_as_short_and_the_shortest_are_among_them(
    standings: dict[str, Standing],
) -> None:
    most = max(standing.coverage for standing in standings.values())
    top = {name: standing for name, standing in standings.items() if standing.coverage == most}
    shared = set.intersection(*(standing.solved for standing in top.values()))
    lengths = {name: standing.length(shared) for name, standing in top.items()}
    good = as_good_as_the_best(standings)
    assert set(good) == {name for name, length in lengths.items() if length <= NEAR * min(lengths.values())}
    assert min(lengths, key=lambda name: lengths[name]) in good


@given(STANDINGS, st.randoms())
def test_the_order_of_different_costs_does_not_matter(standings: dict[str, Standing], random: object) -> None:
    names = list(standings)
    random.shuffle(names)  # type: ignore[attr-defined]
    costs = milliseconds(standings)
    if len(set(costs.values())) == len(standings):
        assert keep({name: standings[name] for name in names}) == keep(standings)


@given(STANDINGS)
def test_one_that_solves_less_changes_neither_coverage_nor_lengths(standings: dict[str, Standing]) -> None:
    worse = Standing(dict.fromkeys(PROBLEMS), -1, {})
    assert keep(standings | {"worse": worse}) == keep(standings)


@given(STANDINGS)
def test_what_is_kept_and_becomes_cheaper_is_kept(standings: dict[str, Standing]) -> None:
    kept = keep(standings)
    cheaper = {problem: seconds / 2 for problem, seconds in standings[kept].seconds.items()}
    assert keep(standings | {kept: replace(standings[kept], seconds=cheaper)}) == kept


@given(STANDINGS, STANDINGS)
def test_what_is_enough_is_as_good_as_any_that_comes_later_where_the_optimum_is_known(
    before: dict[str, Standing], after: dict[str, Standing]
) -> None:
    """So a climb that ends there keeps what it would have kept, if what comes later is dearer."""
    optima = dict.fromkeys(PROBLEMS, 10)
    mine = Standing(dict.fromkeys(PROBLEMS, 10), 3, dict.fromkeys(PROBLEMS, 1e-9))
    assert is_enough(mine, 3, mine.length(PROBLEMS) / sum(optima.values()))
    possible = {
        name: replace(one, lengths={p: None if n is None else max(n, optima[p]) for p, n in one.lengths.items()})
        for name, one in after.items()
    }
    assert "mine" in as_good_as_the_best({"mine": mine} | possible)


def test_what_leaves_a_problem_or_has_long_plans_or_plans_of_unknown_worth_is_not_enough() -> None:
    all_of_them = Standing({"a": 10}, 2, {})
    assert is_enough(all_of_them, 2, NEAR)
    assert not is_enough(all_of_them, 2, NEAR + 0.01) and not is_enough(all_of_them, 2, None)
    assert not is_enough(all_of_them, 3, 1.0) and not is_enough(Standing({"a": None}, 2, {}), 2, 1.0)
