"""RELABEL: structures over colours become colours."""

from __future__ import annotations

from collections.abc import Hashable


class Relabel(dict[Hashable, int]):
    """The paper's RELABEL: equal structures over colours get the same natural number, others another.

    >>> relabel = Relabel()
    >>> relabel["a", 1], relabel["b", 1], relabel["a", 1]
    (0, 1, 0)
    """

    def __missing__(self, structure: Hashable) -> int:
        self[structure] = len(self)
        return self[structure]
