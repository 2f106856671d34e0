"""Situations that training lacks: the relation in whose presence, or absence, what was learned is most off.

Errors grow with V* and with the size of a problem, whatever the reason. So held-out states that have atoms of a
relation are compared with others of the same V* and number of objects alone. And a relation is only named where few
training states are so: elsewhere, more of the same would not be the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trifold.data import Dataset
from trifold.memory import MESSAGES_TO_VALIDATE
from trifold.model import Model
from trifold.nn import has_best_action
from trifold.structures import MARK

RARE = 0.1
"""Below this part of the training states a situation is one that training lacks."""

LEAST_STATES = 20
"""Of fewer held-out states nothing is said."""

LARGE_ERROR, LARGE_SHARE = 0.5, 0.05
"""A mean |V* − V| from which on neighbours are confused, and a share of states whose best-scored action is wrong."""

STANDS_OUT = 1.5
"""So many times the error of comparable states is no chance."""


@dataclass(frozen=True)
class Situation:
    """States with atoms of a relation, or without any, in which what was learned is clearly more off than elsewhere.

    share     of the training states that are so
    error     in held-out states that are so: the mean |V* − V|, or the part whose best-scored action is not optimal
    expected  the same in comparable states that are not so
    """

    relation: str
    is_present: bool
    share: float
    error: float
    expected: float
    is_of_scores: bool

    def __str__(self) -> str:
        name = f"{'with' if self.is_present else 'without'} {self.relation}"
        if self.is_of_scores:
            off = f"the best-scored action is wrong in {self.error:.1%} of the held-out states {name}, and in "
            off += f"{self.expected:.1%} of others"
        else:
            off = f"V is off by {self.error:.2f} in held-out states {name}, and by {self.expected:.2f} in others"
        return f"{off} of like V* and size; only {self.share:.1%} of the training states are so"


def find_situation(model: Model, training: Dataset, held_out: Dataset) -> Situation | None:
    """The situation in which a model is most off; None where none stands out.

    ``held_out`` has the states over objects, not encoded ones. Where the model scores actions, its policy goes by these
    and so does the error; states without an optimal action are then left out.
    """
    with_scores = model.scores_actions
    errors = state_errors(model, held_out.encoded(torch.arange(len(held_out))))
    counted = errors.isfinite()
    sizes = held_out.structures.element_counts.to(held_out.targets)
    kind = _number(torch.stack([held_out.targets, sizes], 1))
    rare = _shares(training)
    found = []
    for number, relation in enumerate(held_out.structures.signature):
        if relation.is_query or relation.name not in rare:
            continue
        present = held_out.structures.atom_counts[number].to(errors.device) > 0
        for is_present, share in ((True, rare[relation.name]), (False, 1 - rare[relation.name])):
            if share < RARE and (pair := _compare(errors, counted & (present == is_present), counted, kind)):
                found.append(Situation(relation.name, is_present, share, *pair, with_scores))
    least = LARGE_SHARE if with_scores else LARGE_ERROR
    clear = [one for one in found if one.error >= max(least, STANDS_OUT * one.expected)]
    return max(clear, key=lambda one: one.error - one.expected, default=None)


@torch.no_grad()
def state_errors(model: Model, states: Dataset) -> Tensor:
    """(states,) |V* − V|, or 1 where the best-scored action is not optimal and 0 where it is; NaN where none is."""
    errors = []
    for structures, targets in states.batches(MESSAGES_TO_VALIDATE):
        values, scored = model.read(structures)
        if scored is not None:
            asked, is_best = has_best_action(scored, len(structures))
            errors.append(torch.where(asked, (~is_best).double(), torch.nan))
        elif values is not None:
            errors.append((values - targets).abs().double())
    return torch.cat(errors)


def _compare(errors: Tensor, chosen: Tensor, counted: Tensor, kind: Tensor) -> tuple[float, float] | None:
    """The mean error of chosen states, and that of others of the same kinds; None if too few can be compared.

    Shapes: errors, chosen, counted and kind (states,).
    """
    others = counted & ~chosen
    kinds = int(kind.max()) + 1
    many, few = (torch.bincount(kind[part], minlength=kinds) for part in (chosen, others))
    off, usual = (torch.bincount(kind[part], errors[part], minlength=kinds) for part in (chosen, others))
    both = (many > 0) & (few > 0)
    states = int(many[both].sum())
    if states < LEAST_STATES:
        return None
    expected = (many[both] * usual[both] / few[both]).sum()
    return float(off[both].sum()) / states, float(expected) / states


def _shares(training: Dataset) -> dict[str, float]:
    """By relation, the part of the training states that have atoms of it."""
    weights = training.weights.double()
    has = (training.structures.atom_counts.to(weights.device) > 0).double() @ weights / weights.sum()
    names = [name.removesuffix(MARK) for name in training.structures.signature.names]
    return dict(zip(names, has.tolist(), strict=True))


def _number(rows: Tensor) -> Tensor:
    """(n, m) → (n,) a number for each different row."""
    numbers: Tensor = torch.unique(rows.cpu(), dim=0, return_inverse=True)[1]
    return numbers.to(rows.device)
