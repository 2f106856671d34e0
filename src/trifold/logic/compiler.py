"""From relational joins to the weights of an R-GNN[t] that computes them: the theorem as code.

A coordinate is 0 until its gate opens, and 1 from then on. Nothing needs to be taken back: the operands of a gate only
rise too, for only atoms are negated, and what is known of atoms is known from the first layer on.

Messages. An atom R(x,y) sends LOUD to the pair ⟨x,y⟩ on each channel that waits for it, and △(⟨x,z⟩,⟨z,y⟩,⟨x,y⟩) sends
it to its third argument if both operands of a join are 1. All else is 0. The smooth maximum of n messages lies between
their maximum and log(n)/12 more, so a channel divided by LOUD is at least 1, or at most 1/4 if n ≤ 10⁸³: any number of
messages will do. A pair without messages gets 0 as well, which is right: no atom and no join holds of it.

Mish. mish(x) is x for x ≥ 20, and within 10⁻¹¹ of 0 for x ≤ −31. So an AND takes one hidden unit,
mish(STEEP · (a + b − 3/2)), and a step two, mish(v + 1) − mish(v), which is 1 for v ≥ 20 and 0 for v ≤ −32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch

from trifold.errors import TrifoldError
from trifold.logic.formulas import Formula, Join, Negation
from trifold.logic.parameters import Gate, build_gates, composed, parameters
from trifold.nn import MLP, RGNN, Readout
from trifold.structures import Relation

TOLERANCE = 1e-9
"""How far a coordinate can be from 0 or 1 in double precision; in single precision it is 1e-3."""

TRIANGLE = "@triangle"
"""△ in encoded signatures."""

# Powers of two, so that every weight is exact in single precision too.
LOUD = 64.0
STEEP = 128.0

BINARY = 4
"""The arity of an encoded binary atom R(⟨x,x⟩,⟨x,y⟩,⟨y,x⟩,⟨y,y⟩)."""
PLACES = {"xy": 1, "yx": 2}
"""Which argument of an encoded atom R(x,y) is the pair that R(x,y), or R(y,x), speaks of."""


@torch.no_grad()
def compile_joins(formulas: Sequence[Formula], relations: Sequence[Relation]) -> RGNN:
    """An R-GNN[t] whose final embeddings say which joins hold.

    relations  those of the encoded signature: of ``Pairs(t)`` with the t of ``parameters(formulas)``, or a larger one

    After the last layer, coordinate j of the pair ⟨u,v⟩ is 1 if formula j holds of ⟨u,v⟩ and 0 otherwise, within
    ``TOLERANCE``, for every structure and every live pair; of the other pairs ``holds_apart`` speaks. Formulas outside
    the fragment are refused.
    """
    needed = parameters(formulas)
    gates = build_gates(formulas)
    network = RGNN(relations, needed.dim, needed.layers)
    for parameter in network.parameters():
        parameter.zero_()
    _set_atoms(network, gates)
    _set_joins(network, gates)
    _set_update(network, gates)
    return network


@torch.no_grad()
def linear_readout(dim: int, weights: Sequence[float], bias: float) -> Readout:
    """The readout V(S) = bias + Σ_j weights_j · n_j, where n_j is the number of pairs ⟨o,o⟩ whose coordinate j is 1."""
    readout = Readout(dim)
    inner, outer = readout.mlp.inner, readout.mlp.outer
    inner.weight.copy_(torch.eye(dim))
    inner.bias.fill_(LOUD)  # where mish is the identity
    outer.weight.zero_()
    outer.weight[0, : len(weights)] = torch.tensor(weights)
    outer.bias.fill_(bias - LOUD * sum(weights))
    return readout


def _set_atoms(network: RGNN, gates: list[Gate]) -> None:
    """An atom's messages do not depend on embeddings: they are the bias of its MLP."""
    mlps = _message_mlps(network)
    for channel, gate in enumerate(gates):
        for atom in gate.atoms:
            if Relation(atom.relation, BINARY) not in network.relations:
                raise TrifoldError(f"the network has no binary relation {atom.relation}", place=repr(gate.formula))
            mlps[atom.relation].outer.bias.view(BINARY, -1)[PLACES[atom.arguments], channel] = LOUD


def _set_joins(network: RGNN, gates: list[Gate]) -> None:
    """One hidden unit of MLP_△ per join: both operands are 1."""
    units: dict[Join, int] = {}
    coordinates = {gate.formula: coordinate for coordinate, gate in enumerate(gates)}
    mlps = _message_mlps(network)
    for channel, gate in enumerate(gates):
        for join in gate.joins:
            if TRIANGLE not in mlps:
                raise TrifoldError("joins need compositions △, which R-GNN[0] has none of", remedy="encode with t ≥ 1")
            unit = units.setdefault(join, len(units))
            first, second = composed(join)
            inner, outer = mlps[TRIANGLE].inner, mlps[TRIANGLE].outer
            inner.weight.view(-1, 3, network.dim)[unit, 0, coordinates[first]] = STEEP
            inner.weight.view(-1, 3, network.dim)[unit, 1, coordinates[second]] = STEEP
            inner.bias[unit] = -1.5 * STEEP
            outer.weight.view(3, network.dim, -1)[2, channel, unit] = LOUD / (0.5 * STEEP)


def _message_mlps(network: RGNN) -> dict[str, MLP]:
    return {name: cast(MLP, mlp) for (name, _), mlp in zip(network.relations, network.messages, strict=True)}


def _set_update(network: RGNN, gates: list[Gate]) -> None:
    """Two hidden units of MLP_U per gate: a step of a sum that passes the gate's threshold, until it has risen.

    A missing conjunct weighs more than all disjuncts together, and the coordinate itself, once it is 1, more than all.
    """
    inner, outer = network.update.inner, network.update.outer
    coordinates = {gate.formula: coordinate for coordinate, gate in enumerate(gates)}
    for channel, gate in enumerate(gates):
        step = inner.weight[2 * channel].view(2, -1)  # (embedding or received, dim)
        conjunct_weight = len(gate.disjuncts) + 1
        for part in gate.conjuncts:
            step[0, coordinates[part]] += conjunct_weight
        for part in gate.read:
            step[0, coordinates[part]] += 1
        step[1, channel] = (-1 if isinstance(gate.formula, Negation) else 1) / LOUD
        total = conjunct_weight * len(gate.conjuncts)
        if isinstance(gate.formula, Negation) or not gate.disjuncts:
            threshold = total - 0.5
        else:
            threshold = total + 0.5
        step[0, channel] -= total + len(gate.disjuncts) + 2
        step *= STEEP
        inner.weight[2 * channel + 1] = inner.weight[2 * channel]
        inner.bias[2 * channel] = 1 - STEEP * threshold
        inner.bias[2 * channel + 1] = -STEEP * threshold
        outer.weight[channel, 2 * channel] = 1
        outer.weight[channel, 2 * channel + 1] = -1
