"""What the figures of the site show is what encoders and colours make of the states on its page."""

from __future__ import annotations

from itertools import product

from site_figures import FIGURES, IN_THE_DARK, METHOD, darken, draw
from site_states import Comparison, Live, Seen, code_block, distance, two_cities
from trifold.encoders import Pairs, Plain

PAGE = METHOD.read_text(encoding="utf-8")


def test_the_example_has_the_pairs_that_the_page_tells() -> None:
    state = Seen.of("blocks-s", code_block(PAGE, "five.pddl"))
    places = {one: number for number, one in enumerate("abcde")}
    for t, steps in enumerate((1, 2, 4)):
        live = Live.of(state, t)
        assert set(live.compositions) == {
            (a, b) for a, b in product("abcde", repeat=2) if abs(places[a] - places[b]) <= steps
        }
        assert live.triangles == 0 or f"{live.triangles} compositions" in " ".join(PAGE.split())
        assert f"{len(live.compositions)} " in PAGE


def test_a_plain_network_is_blind_where_the_page_says_so() -> None:
    texts = two_cities(PAGE)
    home, away = (Seen.of("logistics", text) for text in texts)
    values = tuple(distance("logistics", text) for text in texts)
    assert values == (6, 12) and all(f"V* = {value}" in PAGE for value in values)
    assert Comparison.of((home, away), Plain(), None).is_alike
    assert Comparison.of((home, away), Pairs(0), None).is_alike
    assert not Comparison.of((home, away), Pairs(1), None).is_alike
    first = Comparison.of((home, away), Pairs(1), 1)
    only = {pair for pair, colour in first.first.items() if colour not in first.second.values()}
    near = {("p1", "city1"), ("p2", "city2"), ("office1", "airport1"), ("office2", "airport2")}
    assert only == near | {(b, a) for a, b in near}


def test_a_figure_is_the_same_each_time_and_has_no_light_colour_in_the_dark() -> None:
    picture = draw("objects")
    assert picture == draw("objects") and picture.count("<svg") == 1
    dark = darken(picture)
    assert dark != picture and not any(light in dark for light in IN_THE_DARK)
    assert len({*IN_THE_DARK.values()}) == len(IN_THE_DARK) and "pairs" in FIGURES
