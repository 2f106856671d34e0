"""How a domain's states are drawn: chosen by its predicates, so that a variant of a domain is drawn like it.

A drawing is data: its kind, which names the function of `draw-*.js` that draws it, and which predicate plays which
part. What has no drawing of its own is a graph of its objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from trifold.pages.layout import grid_cells, named_cells, spread
from trifold.pages.world import Pair, World

Drawing = dict[str, Any]


def choose_drawing(world: World) -> Drawing:
    """The first drawing of `DRAWINGS` that fits the predicates."""
    return next(drawing for find in DRAWINGS if (drawing := find(world)) is not None)


def towers(world: World) -> Drawing | None:
    """Blocks on each other and on a table."""
    table = world.first("on-table/1", "ontable/1")
    if table is None or not world.has("on/2", "clear/1"):
        return None
    return {"kind": "towers", "on": "on", "table": table, "holding": world.first("holding/1")}


def rovers(world: World) -> Drawing | None:
    """Rovers on their map, with samples, objectives and landers, and a card of what each carries and knows."""
    if not world.has("at/2", "can_traverse/3", "visible/2", "at_lander/2"):
        return None
    ways = [(a, b) for _, a, b in world.of_predicate("can_traverse")]
    waypoints = world.places(("can_traverse", 1), ("can_traverse", 2), ("visible", 0), ("at", 1), ("at_lander", 1))
    if not waypoints:
        return None
    views = world.pairs("visible_from")
    objectives = world.places(("visible_from", 0))
    places = spread([*waypoints, *objectives], [*(ways or world.pairs("visible")), *views])
    return {
        "kind": "map",
        "cells": [{"name": name, "objects": [name], "at": places[name]} for name in waypoints],
        "sights": [{"name": name, "at": places[name]} for name in objectives],
        "edges": _ways(world, "can_traverse"),
        "views": [list(view) for view in views],
        "robots": [["at", 0, [1]]],
        "marks": [["at_soil_sample", [0], "soil"], ["at_rock_sample", [0], "rock"], ["at_lander", [1], "lander"]],
        "cards": {
            "of": world.places(("at", 0)),
            "own": ["equipped_for_soil_analysis", "equipped_for_rock_analysis", "equipped_for_imaging"],
            "know": ["have_soil_analysis", "have_rock_analysis", "have_image"],
            "parts": [["store_of", ["full", "empty"]], ["on_board", ["calibrated"]]],
            "sent": ["communicated_soil_data", "communicated_rock_data", "communicated_image_data"],
        },
    }


def coordinates(world: World) -> Drawing | None:
    """A grid whose cells are pairs of coordinates."""
    if not world.has("at/2", "cell/2", "succ-x/2", "succ-y/2"):
        return None
    columns, rows = _chain(world.pairs("succ-x")), _chain(world.pairs("succ-y"))
    cells = [(x, y) for x, y in world.of_predicate("cell") if x in columns and y in rows]
    if not cells:
        return None
    top = max(rows.values())
    return {
        "kind": "board",
        "cells": [{"name": f"{x} {y}", "objects": [x, y], "at": (columns[x], top - rows[y])} for x, y in cells],
        "edges": [
            [f"{x} {y}", f"{u} {v}"]
            for x, y in cells
            for u, v in cells
            if (columns[u] - columns[x], rows[v] - rows[y]) in ((1, 0), (0, 1))
        ],
        "robots": [["at", None, [0, 1]]],
        "marks": [["visited", [0, 1], "visited"], ["blocked", [0, 1], "wall"]],
    }


def places(world: World) -> Drawing | None:
    """A robot, or several, on places that are joined: with keys and locks, dirt, or places to visit."""
    robot = world.first("at-robot/1", "robot-at/1", "at-agent/1")
    link = world.first("conn/2", "connected/2", "adjacent/2", "link/2")
    if robot is not None and link is not None:
        robots: list[list[Any]] = [[robot, None, [0]]]
        edges, names = world.pairs(link), world.places((robot, 0), (link, 0), (link, 1))
        ways = [list(pair) for pair in dict.fromkeys(tuple(sorted(edge)) for edge in edges)]
        things = [["at", 0, [1]]] if world.has("at/2") else []
    elif world.has("at/2", "adjacent/3"):
        robots, things = [["at", 0, [1]]], []
        edges = [(a, b) for _, a, b in world.of_predicate("adjacent")]
        names, ways = world.places(("at", 1), ("adjacent", 1), ("adjacent", 2), ("dirty", 0)), _ways(world, "adjacent")
    else:
        return None
    if not names:
        return None
    cells = (named_cells(names, edges) or grid_cells(names, edges)) if robot is not None else None
    found = cells or spread(names, edges)
    marks = {"visited": "visited", "dirty": "dirt", "locked": "lock", "blocked": "wall"}
    return {
        "kind": "board" if cells else "map",
        "cells": [{"name": name, "objects": [name], "at": found[name]} for name in names],
        "edges": ways,
        "robots": robots,
        "things": things,
        "held": world.first("holding/1", "carrying/1"),
        "marks": [[name, [0], look] for name, look in marks.items() if world.has(f"{name}/1")],
        "shapes": [pair for name in ("key-shape", "lock-shape") for pair in world.pairs(name)],
    }


def cities(world: World) -> Drawing | None:
    """Cities with places, vehicles there, and packages in both."""
    if not world.has("at/2", "in/2", "in-city/2"):
        return None
    of_city = world.pairs("in-city")
    groups = {city: [place for place, other in of_city if other == city] for city in world.places(("in-city", 1))}
    if alone := [place for place in world.places(("at", 1)) if place not in dict(of_city)]:
        groups["in no city"] = alone
    if not groups:
        return None
    kinds = [("plane", "airplane"), ("truck", "truck")]
    vehicles = {name: look for look, kind in kinds for name in _members(world, kind)}
    return {
        "kind": "cities",
        "groups": [{"name": city, "places": inside} for city, inside in groups.items()],
        "hubs": _members(world, "airport"),
        "vehicles": [[name, vehicles.get(name, "truck")] for name in [*vehicles, *world.places(("in", 1))]],
        "at": "at",
        "in": "in",
    }


def rooms(world: World) -> Drawing | None:
    """Rooms with balls, and a robot with grippers."""
    if not world.has("at-robby/1", "at/2", "carry/2"):
        return None
    return {
        "kind": "rooms",
        "rooms": world.places(("room", 0), ("at-robby", 0), ("at", 1)),
        "grippers": world.places(("gripper", 0), ("free", 0), ("carry", 1)),
        "robot": "at-robby",
        "at": "at",
        "carry": "carry",
    }


def lift(world: World) -> Drawing | None:
    """A lift, its floors, and passengers who wait, ride or have arrived."""
    if not world.has("lift-at/1", "above/2", "origin/2", "destin/2", "boarded/1", "served/1"):
        return None
    below = Counter(upper for _, upper in world.of_predicate("above"))
    floors = world.places(("above", 0), ("above", 1), ("lift-at", 0), ("origin", 1), ("destin", 1))
    return {
        "kind": "lift",
        "floors": sorted(floors, key=lambda floor: below[floor]),
        "from": world.of_predicate("origin"),
        "to": world.of_predicate("destin"),
        "at": "lift-at",
        "boarded": "boarded",
        "served": "served",
    }


def graph(world: World) -> Drawing:
    """The objects as nodes, and the atoms as edges, badges and chips, at places that no step changes."""
    names = list(world.objects)
    goal = {(literal.predicate, *literal.arguments) for literal in world.goal}
    counts = Counter(atom[0] for atom in world.static if len(atom) > 2)
    dense = {name for name, count in counts.items() if count > 2 * len(names)}
    drawn = [atom for atom in sorted(world.initial | goal) if atom[0] not in dense]
    edges = [pair for atom in drawn for pair in pairwise(atom[1:])]
    joined = {name for pair in edges for name in pair}
    later = (pair for atom in sorted(world.atoms) if atom[0] not in dense for pair in pairwise(atom[1:]))
    edges += [pair for pair in later if not joined.issuperset(pair)]  # what is alone at first lies by what it will meet
    found = spread(names, edges)
    return {"kind": "graph", "places": [[name, *found[name]] for name in names], "dense": sorted(dense)}


def _chain(pairs: Sequence[Pair]) -> dict[str, int]:
    """The number of each object in an order that is given by neighbours."""
    after = dict(pairs)
    first = next((name for name in after if name not in after.values()), None)
    found: dict[str, int] = {}
    while first is not None and first not in found:
        found[first] = len(found)
        first = after.get(first)
    return found


def _ways(world: World, predicate: str) -> list[list[Any]]:
    """Each pair of joined places, and who can go there if not all can."""
    who: dict[tuple[str, ...], set[str]] = {}
    for owner, left, right in world.of_predicate(predicate):
        who.setdefault(tuple(sorted((left, right))), set()).add(owner)
    everyone = set[str]().union(*who.values())
    return [[*pair, *([] if owners == everyone else [sorted(owners)])] for pair, owners in who.items()]


def _members(world: World, kind: str) -> list[str]:
    """The objects of a type, or of a unary predicate that says as much."""
    return [name for name, types in world.objects.items() if kind in types or (kind, name) in world.initial]


DRAWINGS: list[Callable[[World], Drawing | None]] = [towers, rovers, coordinates, cities, rooms, lift, places, graph]
"""Those that look at more predicates come before those that look at few; the last fits everything."""
