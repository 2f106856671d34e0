"""Optimal plan lengths of Blocks problems, which general planners do not find, as references for `trifold table`.

A* over moves of blocks, each of which is two actions. A block must move if it, or a block below it, is not where the
goal has it; and it must move twice if it now stands above a block that must move and that the goal has below it. To
move a block to where it belongs, as soon as that is possible, is always right, and to put it on the table is as good as
on any block.
"""

from __future__ import annotations

import argparse
import heapq
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, cast

from trifold.evaluation import Record, Reference, append_record, file_sha256, read_references
from trifold.evaluation.references import SCHEMA
from trifold.expressions import Expression, parse
from trifold.files import read_text
from trifold.outcomes import Outcome
from trifold.pddl import find_domain, find_problems, load_domain, load_problem
from trifold.planning import replay

SEARCH = "A* over moves of blocks"
TABLE = ""

Towers = dict[str, str]
"""What each block stands on: a block or the table."""


def solve(start: Towers, goal: Towers) -> list[tuple[str, str]]:
    """The fewest moves (block, what it is put on) after which each block of the goal stands where the goal has it."""
    order = count()  # of equal entries the older one comes first
    Entry = tuple[int, int, int, Towers, tuple[Any, ...]]  # estimate, cost, order, towers, the moves that led to them
    open_list: list[Entry] = [(estimate(start, goal), 0, next(order), start, ())]
    cheapest = {tuple(start.items()): 0}
    while open_list:
        _, cost, _, towers, moves = heapq.heappop(open_list)
        if cost > cheapest[tuple(towers.items())]:
            continue
        if not must_move(towers, goal):
            return _unroll(moves)
        for block, below in useful_moves(towers, goal):
            after = towers | {block: below}
            key = tuple(after.items())
            if cost + 1 < cheapest.get(key, len(start) * 2 + 1):
                cheapest[key] = cost + 1
                entry = (cost + 1 + estimate(after, goal), cost + 1, next(order), after, (moves, (block, below)))
                heapq.heappush(open_list, entry)
    raise ValueError("the goal cannot be reached")


def must_move(towers: Towers, goal: Towers) -> set[str]:
    """The blocks that are not where the goal has them, that stand where another belongs, or on one that must move."""
    wanted = {below: block for block, below in goal.items()}
    found: dict[str, bool] = {TABLE: False}

    def moves(block: str) -> bool:
        if block not in found:
            below = towers[block]
            misplaced = goal.get(block, below) != below or (below != TABLE and wanted.get(below, block) != block)
            found[block] = misplaced or moves(below)
        return found[block]

    return {block for block in towers if moves(block)}


def estimate(towers: Towers, goal: Towers) -> int:
    """A lower bound on the moves that are left."""
    moving = must_move(towers, goal)
    twice = sum(not moving.isdisjoint(set(_under(block, towers)) & set(_under(block, goal))) for block in moving)
    return len(moving) + twice


def useful_moves(towers: Towers, goal: Towers) -> list[tuple[str, str]]:
    """One move of a block to its place if there is one, or else every move of a block to the table."""
    moving, covered = must_move(towers, goal), set(towers.values())
    clear = [block for block in towers if block in moving and block not in covered]
    for block in clear:
        below = goal.get(block, TABLE)
        if below == TABLE or (below not in moving and below not in covered):
            return [(block, below)]
    return [(block, TABLE) for block in clear if towers[block] != TABLE]


def _under(block: str, towers: Towers) -> Iterator[str]:
    while (block := towers.get(block, TABLE)) != TABLE:
        yield block


def _unroll(moves: tuple[Any, ...]) -> list[tuple[str, str]]:
    found = []
    while moves:
        moves, last = moves
        found.append(last)
    return found[::-1]


def read_problem(path: Path) -> tuple[Towers, Towers]:
    """What the blocks stand on at first, and in the goal, which may have atoms of `on` alone."""
    define = parse(read_text(path).lower(), str(path))
    (init,), (goal,) = define.find(":init"), define.find(":goal")
    atoms = goal.items[1].items[1:] if goal.items[1].head == "and" else goal.items[1:]
    if any(atom.head != "on" for atom in atoms):
        raise SystemExit(f"{path}: the goal says more than what stands on what")
    return _towers(init.items[1:]), _towers(atoms)


def _towers(atoms: tuple[Expression, ...]) -> Towers:
    on = {atom.items[1].word: atom.items[2].word for atom in atoms if atom.head == "on"}
    return on | {atom.items[1].word: TABLE for atom in atoms if atom.head in ("ontable", "on-table")}


def write_plan(moves: list[tuple[str, str]], towers: Towers, hyphen: str) -> list[str]:
    """The moves as actions; a domain says pick-up or pickup."""
    actions, towers = [], dict(towers)
    for block, below in moves:
        actions.append(f"(unstack {block} {towers[block]})" if towers[block] else f"(pick{hyphen}up {block})")
        actions.append(f"(stack {block} {below})" if below else f"(put{hyphen}down {block})")
        towers[block] = below
    return actions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of problems of blocks-s or blocks-m")
    parser.add_argument("--records", type=Path, required=True)
    options = parser.parse_args()
    domain_file = find_domain(options.folder)
    assert domain_file, "there is no domain.pddl"
    domain = load_domain(domain_file)
    hyphen = "-" if "pick-up" in read_text(domain_file).lower() else ""
    recorded = read_references(options.records) if options.records.exists() else []
    known = {one["problem_sha256"]: one["length"] for one in recorded if one["kind"] == Outcome.OPTIMAL}
    total = 0
    for file in find_problems(options.folder):
        began = time.monotonic()
        start, goal = read_problem(file)
        plan = write_plan(solve(start, goal), start, hyphen)
        seconds, total = time.monotonic() - began, total + len(plan)
        assert replay(load_problem(domain, file), plan), f"{file}: the plan does not replay"
        print(f"{file.name}: {len(plan)} steps, {seconds:.1f} s", flush=True)
        if (digest := file_sha256(file)) in known:
            assert known[digest] == len(plan), f"{file}: another search calls {known[digest]} steps optimal"
            continue
        reference: Reference = {
            "schema": SCHEMA,
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "domain": domain.name,
            "domain_sha256": file_sha256(domain_file),
            "problem": file.name,
            "problem_sha256": digest,
            "kind": Outcome.OPTIMAL.value,
            "length": len(plan),
            "search": SEARCH,
            "message": None,
            "seconds": seconds,
            "timeout": 0.0,
            "optimal_timeout": 0.0,
            "memory_gib": None,
            "planner": "experiments/blocks_references.py",
            "python_version": platform.python_version(),
            "trifold_version": version("trifold"),
            "pymimir_version": version("pymimir"),
        }
        append_record(options.records, cast(Record, reference))
    print(f"total length {total}")


if __name__ == "__main__":
    main()
