"""What some problems have, what more to draw before a training, and what others have that they lack: in sentences."""

from __future__ import annotations

from math import ceil

from trifold.data.extent import GOAL, Extent
from trifold.words import counted

FEW_SIZES = 3
"""With fewer sizes, what depends on the size cannot be told from what does not."""

RARE = 0.1
"""Less than this share of the problems is too few to learn a goal from, and a hold-out may have all of them."""


def describe_extent(extent: Extent) -> list[str]:
    """Say what some labelled problems have.

    >>> for line in describe_extent(Extent(2, 36, 0, 5, ((5, 1), (6, 1)), {"ball": (1, 2)}, {"at@goal": 2})):
    ...     print(line)
    objects: 5–6 in 2 problems of 2 sizes; ball 1–2
    states: 36, V* up to 5, no dead ends
    goals: at@goal in 2 of 2 problems
    """
    kinds = ", ".join(f"{name} {_span(*pair)}" for name, pair in extent.kinds.items())
    goals = [f"{name} in {_share(count, extent)}" for name, count in extent.goals.items()]
    dead = f"{extent.dead_ends / extent.states:.1%} of them dead ends" if extent.dead_ends else "no dead ends"
    problems, sizes = counted(extent.problems, "problem"), counted(len(extent.sizes), "size")
    return [
        f"objects: {_span(*extent.objects)} in {problems} of {sizes}{'; ' if kinds else ''}{kinds}",
        f"states: {extent.states:,}, V* up to {extent.largest_value}, {dead}",
        f"goals: {', '.join(goals) or 'none'}",
    ]


def advise(extent: Extent) -> list[str]:
    """Say what to draw more of before a training on these problems; nothing where nothing is missing.

    It is a rule of thumb about what can be counted. That it asks for nothing does not prove that there is enough: that
    is for larger problems to show, which `trifold select` and `trifold evaluate` try.

    >>> advise(Extent(2, 36, 0, 5, ((5, 2),), {}, {"at@goal": 2}))
    ['all problems have 5 objects: draw some of 2 other sizes, or what grows with the size is not learned']
    """
    said = []
    if 0 < len(extent.sizes) < FEW_SIZES:
        sizes = " or ".join(str(size) for size, _ in extent.sizes)
        others = counted(FEW_SIZES - len(extent.sizes), "other size")
        said.append(
            f"all problems have {sizes} objects: draw some of {others}, or what grows with the size is not learned"
        )
    for name, count in extent.goals.items():
        missing = ceil((RARE * extent.problems - count) / (1 - RARE))  # so many more, and the share is RARE
        if missing > 0:
            said.append(f"{name} is in the goal of only {_share(count, extent)}: draw {missing} more that have it")
    return said


def compare_extents(known: Extent, wanted: Extent) -> list[str]:
    """Say what wanted problems have that the known ones, which are trained on, lack: what matters most first.

    >>> known = Extent(2, 36, 0, 5, ((5, 2),), {"room": (2, 2)}, {"at@goal": 2, "room": 2})
    >>> for line in compare_extents(known, Extent(1, 0, 0, 0, ((10, 1),), {"room": (3, 3)}, {"free@goal": 1})):
    ...     print(line)
    1 of 1 problem: free@goal, and not in training: draw problems that have it
    room always 3, and always 2 in training: draw problems with other numbers of them
    up to 10 objects, 2.0 times as many as in training
    """
    said = [
        f"{_share(count, wanted)}: {name}, and not in training: draw problems that have it"
        for name, count in sorted(wanted.relations.items(), key=lambda item: GOAL not in item[0])
        if name not in known.relations
    ]
    for name, (least, most) in wanted.kinds.items():
        fewest, largest = known.kinds.get(name, (0, 0))
        if largest and fewest == largest and (least, most) != (fewest, largest):
            span, always = _span(least, most), _span(fewest, largest)
            said.append(f"{name} {span}, and {always} in training: draw problems with other numbers of them")
    most, largest = wanted.objects[1], known.objects[1]
    if largest and most > largest:
        said.append(f"up to {most} objects, {most / largest:.1f} times as many as in training")
        return said
    for name, (_, most) in wanted.kinds.items():  # no more objects in all, but maybe of a kind
        fewest, largest = known.kinds.get(name, (0, 0))
        if fewest < largest < most:
            said.append(f"{name} up to {most}, and up to {largest} in training")
    return said


def _span(least: int, most: int) -> str:
    return f"always {least}" if least == most else f"{least}–{most}"


def _share(count: int, extent: Extent) -> str:
    return f"{count:,} of {counted(extent.problems, 'problem')}"
