"""Where the nodes of a graph are drawn: on the cells of a grid if it is one, and else by their distances."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cell = tuple[int, int]

TRIED = 20_000
"""Cells that are tried at most before a graph is taken to be no grid."""

ROUNDS = 120
"""Of making the distances in a drawing more like those in the graph."""

WORK = 40_000_000
"""Distances that are looked at for that: of large graphs, rounds are fewer."""

MOST_SPREAD = 1_000
"""Nodes of a graph whose distances are looked at; more are put in rows."""

SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))


def named_cells(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> dict[str, Cell] | None:
    """The cells that names such as ``loc-x1-y2`` speak of, y upwards; None if edges do not join neighbours then.

    >>> named_cells(["a-0-0", "a-0-1", "a-1-1"], [("a-0-0", "a-0-1"), ("a-0-1", "a-1-1")])
    {'a-0-0': (0, 1), 'a-0-1': (0, 0), 'a-1-1': (1, 0)}
    """
    numbers = {node: re.findall(r"\d{1,9}", node) for node in nodes}
    if not nodes or any(len(own) != 2 for own in numbers.values()):
        return None
    found = {node: (int(x), int(y)) for node, (x, y) in numbers.items()}
    if len(set(found.values())) < len(nodes):
        return None
    if any(abs(found[a][0] - found[b][0]) + abs(found[a][1] - found[b][1]) != 1 for a, b in edges):
        return None
    left, top = min(cell[0] for cell in found.values()), max(cell[1] for cell in found.values())
    return {node: (cell[0] - left, top - cell[1]) for node, cell in found.items()}


def grid_cells(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> dict[str, Cell] | None:
    """A cell of a grid for each node so that edges join neighbouring cells; None if the search finds none.

    Names are not looked at. The node with most neighbours that have a cell is next, and goes on straight if it may: so
    rooms, whose cells are bound by cycles of four, come out as they are, and what is beyond a door lies behind it.
    """
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for one, other in edges:
        if one != other:
            near[one].append(other)
            near[other].append(one)
    near = {node: sorted(set(around)) for node, around in near.items()}
    if not nodes or any(len(around) > len(SIDES) for around in near.values()):
        return None
    start = max(nodes, key=lambda node: (len(near[node]), -nodes.index(node)))
    order = _order(nodes, near, start)
    if order is None:
        return None
    cells = _search(order, near)
    if cells is None:
        return None
    left, top = min(cell[0] for cell in cells.values()), min(cell[1] for cell in cells.values())
    return {node: (cell[0] - left, cell[1] - top) for node, cell in cells.items()}


def _order(nodes: Sequence[str], near: dict[str, list[str]], start: str) -> list[str] | None:
    """All nodes, each beside one before it, those that are most bound first; None if they do not hang together."""
    order, bound = [start], dict.fromkeys(nodes, 0)
    rank = {node: i for i, node in enumerate(nodes)}
    open_nodes = set(near[start])
    del bound[start]
    for other in near[start]:
        bound[other] += 1
    while open_nodes:
        node = max(open_nodes, key=lambda name: (bound[name], len(near[name]), -rank[name]))
        open_nodes.remove(node)
        order.append(node)
        del bound[node]
        for other in near[node]:
            if other in bound:
                bound[other] += 1
                open_nodes.add(other)
    return order if len(order) == len(nodes) else None


def _search(order: list[str], near: dict[str, list[str]]) -> dict[str, Cell] | None:
    """Put the nodes on cells in this order, going back where there is no cell for one."""
    cells: dict[str, Cell] = {order[0]: (0, 0)}
    taken = {(0, 0)}
    pending = [iter(_candidates(order[1], near, cells, taken))] if len(order) > 1 else []
    for _ in range(TRIED):
        if not pending:
            return cells if len(cells) == len(order) else None
        node = order[len(pending)]
        if node in cells:
            taken.remove(cells.pop(node))
        cell = next(pending[-1], None)
        if cell is None:
            pending.pop()
            continue
        cells[node] = cell
        taken.add(cell)
        if len(cells) == len(order):
            return cells
        pending.append(iter(_candidates(order[len(pending) + 1], near, cells, taken)))
    return None


def _candidates(node: str, near: dict[str, list[str]], cells: dict[str, Cell], taken: set[Cell]) -> list[Cell]:
    """The free cells beside all of the node's neighbours that have one, those that go on straight first."""
    fixed = [other for other in near[node] if other in cells]
    found = []
    x, y = cells[fixed[0]]
    for dx, dy in SIDES:
        cell = (x + dx, y + dy)
        if cell in taken or any(abs(cell[0] - cells[o][0]) + abs(cell[1] - cells[o][1]) != 1 for o in fixed):
            continue
        behind = (x - dx, y - dy)
        is_straight = any(cells.get(other) == behind for other in near[fixed[0]])
        beside = sum((cell[0] + sx, cell[1] + sy) in taken for sx, sy in SIDES) - len(fixed)
        found.append((beside, not is_straight, cell))  # few walls, and straight on
    return [cell for _, _, cell in sorted(found, key=lambda entry: entry[:2])]


def spread(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Places whose distances are like those in the graph, an edge being about 1 long: stress majorization.

    Deterministic: it begins with classical scaling. The longer side lies across.
    """
    if len(nodes) > MOST_SPREAD:
        across = math.isqrt(len(nodes)) * 2
        return {node: (float(i % across), float(i // across)) for i, node in enumerate(nodes)}
    index = {node: i for i, node in enumerate(nodes)}
    wanted = _distances(len(nodes), [(index[left], index[right]) for left, right in edges])
    places = _majorize(_scale_classically(wanted), wanted)
    for _ in range(30):
        places = _part(places)
    if len(nodes) > 2:
        places = places - places.mean(0)
        axes = np.linalg.eigh(places.T @ places)[1]
        places = places @ axes[:, ::-1]
    places = places - places.min(0) if len(nodes) else places
    return {node: (round(float(x), 2), round(float(y), 2)) for node, (x, y) in zip(nodes, places, strict=True)}


def _distances(size: int, edges: Sequence[tuple[int, int]]) -> Floats:
    """How many edges are between two nodes; parts that do not hang together are put beside each other."""
    found = np.full((size, size), np.inf)
    np.fill_diagonal(found, 0)
    for left, right in edges:
        if left != right:
            found[left, right] = found[right, left] = 1
    for middle in range(size):
        np.minimum(found, found[:, middle, None] + found[None, middle], out=found)
    finite = found[np.isfinite(found)]
    apart = max(2.0, float(finite.max(initial=0)) * 0.75)
    return np.where(np.isfinite(found), found, apart)


def _scale_classically(wanted: Floats) -> Floats:
    size = len(wanted)
    if size < 3:
        return np.array([[float(i), 0.0] for i in range(size)]).reshape(size, 2)
    centre = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-0.5 * centre @ wanted**2 @ centre)
    signs = np.sign(vectors[np.abs(vectors).argmax(0), range(size)])  # as they are on every machine
    found = (vectors * signs)[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 1e-9))
    angle = np.arange(size) * 2.399963  # equal nodes must not begin at one place
    return np.asarray(found + 0.01 * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _majorize(places: Floats, wanted: Floats) -> Floats:
    """Each node goes to where the others, the near ones above all, want it: SMACOF with weights d⁻²."""
    size = len(places)
    if size < 3:
        return places
    with np.errstate(divide="ignore"):
        weights = np.where(wanted > 0, wanted**-2, 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights, hermitian=True)
    pull = weights * wanted
    for _ in range(min(ROUNDS, WORK // size**2)):
        ratio = pull / np.maximum(_distances_between(places), 1e-9)
        np.fill_diagonal(ratio, 0)
        places = inverse @ (ratio.sum(1)[:, None] * places - ratio @ places)
    return places


def _distances_between(places: Floats) -> Floats:
    across, down = (np.subtract.outer(side, side) for side in places.T)
    return np.asarray(np.sqrt(across**2 + down**2))


def _part(places: Floats, least: float = 0.8) -> Floats:
    """Move nodes apart that would cover each other."""
    apart = _distances_between(places) + np.eye(len(places)) * 9
    push = np.maximum(least - apart, 0) / np.maximum(apart, 1e-6)
    return np.asarray(places + 0.25 * (push.sum(1)[:, None] * places - push @ places))
