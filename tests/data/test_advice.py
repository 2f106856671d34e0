"""Advice: what it asks for is enough for it to ask no more, and what nothing lacks is not said to lack."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trifold.data.advice import advise, compare_extents, describe_extent
from trifold.data.extent import Extent

TRAINING = Extent(
    40,
    1000,
    10,
    20,
    ((5, 10), (6, 10), (7, 20)),
    {"ball": (1, 3), "room": (2, 2)},
    {"at": 40, "at@goal": 40, "ball": 40, "free@goal-not": 1, "room": 40},
)


@pytest.mark.parametrize(("problems", "count", "more"), [(40, 1, 4), (40, 3, 2), (11, 1, 1), (1000, 99, 2)])
def test_a_rare_goal_is_asked_for_as_often_as_makes_it_common(problems: int, count: int, more: int) -> None:
    few = replace(TRAINING, problems=problems, relations={"at@goal": problems, "free@goal-not": count})
    (line,) = advise(few)
    assert f"draw {more} more" in line and "free@goal-not" in line
    enough = replace(few, problems=problems + more, relations={"at@goal": problems, "free@goal-not": count + more})
    assert advise(enough) == []
    assert advise(replace(few, problems=problems + more - 1, relations={"free@goal-not": count + more - 1}))


def test_few_sizes_are_said() -> None:
    assert advise(replace(TRAINING, relations={})) == []
    assert "1 other size," in advise(replace(TRAINING, relations={}, sizes=((5, 2), (6, 1))))[0]


def test_problems_lack_nothing_of_their_own() -> None:
    assert compare_extents(TRAINING, TRAINING) == []


def test_what_is_not_in_training_is_said_goals_first() -> None:
    wanted = Extent(
        2, 0, 0, 0, ((14, 2),), {"ball": (9, 10), "room": (2, 4)}, {"door": 1, "on@goal": 2, "at": 2, "room": 2}
    )
    first, second, third, last = compare_extents(TRAINING, wanted)
    assert first.startswith("2 of 2 problems: on@goal") and second.startswith("1 of 2 problems: door")
    assert third.startswith("room 2–4, and always 2") and "2.0 times" in last


def test_dead_ends_are_a_share_and_one_is_singular() -> None:
    lines = describe_extent(replace(TRAINING, problems=1))
    assert "in 1 problem of 3 sizes" in lines[0] and "1.0% of them dead ends" in lines[1]


def test_more_of_a_kind_is_said_where_there_are_no_more_objects_in_all() -> None:
    known = Extent(2, 36, 0, 5, ((5, 1), (9, 1)), {"room": (2, 4)}, {"room": 2})
    assert compare_extents(known, Extent(1, 0, 0, 0, ((9, 1),), {"room": (8, 8)}, {"room": 1})) == [
        "room up to 8, and up to 4 in training"
    ]
