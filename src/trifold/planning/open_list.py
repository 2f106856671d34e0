"""The open list of a best-first search: known states in the order of their estimates."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from heapq import heappop, heappush, heapreplace


class OpenList:
    """States by their estimates; of equal ones what was added first comes first.

    What is added together is one sorted run, so that a state takes 12 bytes, and not a tuple of objects. A heap has the
    best of each run.

    >>> open_list = OpenList()
    >>> open_list.add([1, 2, 3], [0.5, 0.25, 0.5])
    >>> open_list.add([4], [0.5])
    >>> [open_list.pop() for _ in range(len(open_list))]
    [2, 1, 3, 4]
    """

    def __init__(self) -> None:
        self._heads: list[tuple[float, int, array[float], array[int]]] = []
        self._runs = self._count = 0

    def __len__(self) -> int:
        """How many states are open."""
        return self._count

    def add(self, states: Sequence[int], estimates: Sequence[float]) -> None:
        """Add states, in the order in which they were met."""
        if not states:
            return
        order = sorted(range(len(states)), key=estimates.__getitem__)[::-1]  # the best last, where it is taken from
        left = array("d", [estimates[i] for i in order]), array("i", [states[i] for i in order])
        heappush(self._heads, (left[0][-1], self._runs, *left))
        self._runs, self._count = self._runs + 1, self._count + len(states)

    def pop(self) -> int:
        """Take the first state."""
        _, run, estimates, states = self._heads[0]
        state, _ = states.pop(), estimates.pop()
        if states:
            heapreplace(self._heads, (estimates[-1], run, estimates, states))
        else:
            heappop(self._heads)
        self._count -= 1
        return state
