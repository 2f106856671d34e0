"""The paper's example: the distance to the goal in Navig-xy as relational joins, and the value function it makes."""

from __future__ import annotations

from collections.abc import Sequence

from trifold.logic.compiler import compile_joins, linear_readout
from trifold.logic.formulas import Atom, Formula, Join, converse
from trifold.nn import RGNN, Readout
from trifold.structures import Relation


def near_goal(bound: int) -> list[Formula]:
    """For each d ≤ bound, the formula that says that ⟨x,y⟩ is a cell from which the goal is at most d moves away.

    φ₀ = At_g and φ_{d+1} = Cell ∧ ¬Blocked ∧ (φ_d ∨ ∃z[Adj-x(x,z) ∧ φ_d(z,y)] ∨ ∃z[φ_d(x,z) ∧ Adj-y(y,z)]).

    Two differences from the paper: the guard Cell is written in, without which the reach of φ_d, and so t, would grow
    with d; and φ_d says "at most" where the paper's says "by some walk of just d moves".
    """
    adjacent_x = Atom("succ-x") | Atom("succ-x", "yx")
    adjacent_y = Atom("succ-y") | Atom("succ-y", "yx")
    near: list[Formula] = [Atom("at@goal")]
    for _ in range(bound):
        last = near[-1]
        stepped = last | Join(adjacent_x, converse(last)) | Join(last, adjacent_y)
        near.append(Atom("cell") & ~Atom("blocked") & stepped)
    return near


def robot_near_goal(bound: int) -> list[Formula]:
    """For each d ≤ bound, a formula that holds of just one pair ⟨o,o⟩ if the goal is at most d moves away, or of none.

    ∃z[φ_d(x,z) ∧ At(y,z)]. Of ⟨o,o⟩ it says that the robot is at ⟨o,z⟩, a cell near the goal.
    """
    return [Join(near, Atom("at")) for near in near_goal(bound)]


def distance_network(relations: Sequence[Relation], bound: int) -> tuple[RGNN, Readout]:
    """An R-GNN[1] and a readout whose V is V* in every state of Navig-xy with V* ≤ bound, and bound + 1 in others.

    relations  those of the domain's encoded signature
    """
    joins = robot_near_goal(bound)
    network = compile_joins(joins, relations)
    return network, linear_readout(network.dim, [-1.0] * len(joins), len(joins))
