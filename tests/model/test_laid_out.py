"""A step on arrays of fixed size has the loss and the gradients of the reference; a graph of it could be captured."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import Tensor

from model.test_captured_look import NoHostReads
from trifold.data import Dataset
from trifold.domains import DOMAINS, domain_text
from trifold.model import HEADS, LaidOutNetwork, Model, ModelConfig
from trifold.nn import BACKENDS, REFERENCE, EdgeTransformer
from trifold.pddl import expand
from trifold.training.loss import batch_loss, joint_loss

pytest.importorskip("triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of lanes that are masked out
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BATCH = 3
NOTHING_READ_BACK: Any = NoHostReads
(BY_KERNELS,) = BACKENDS[EdgeTransformer]


class Step:
    """The Edge Transformer's step on states of two Gripper problems, of five objects and of six."""

    def __init__(self, heads: str, layers: int = 2, room: float = 1) -> None:
        domain, rng = domain_text("gripper"), random.Random(0)
        spaces = [expand(domain, DOMAINS["gripper"].problem(rng, balls), 1000) for balls in (1, 2)]
        config = ModelConfig(encoder="marks", dim=16, layers=layers, heads=heads)
        facts: Any = {"dead_end_target": None, "with_actions": config.has_actions, "device": DEVICE}
        self.data = Dataset.build(spaces, config.build_encoder(), **facts)
        counts, schemas = self.data.atom_counts, spaces[0].actions.schemas
        self.network = Model.fresh(config, spaces[0].table.signature, domain, counts, 0, schemas).to(DEVICE).network
        self.laid_out = LaidOutNetwork(
            self.network,
            BY_KERNELS,
            self.data.structures,
            lambda sizes: [int(room * BATCH * most) for most in sizes.max(1).values],
            "float32",
        )

    def loss(self, indices: Tensor) -> Tensor:
        """The loss of a batch as a captured step computes it."""
        layout, found = self.laid_out.batcher(indices)
        return joint_loss(*self.laid_out.read(layout, found, BATCH), self.data.targets[indices])

    def gradients(self, loss: Tensor) -> list[Tensor]:
        """Those of a loss; of weights that it does not depend on, as without layers, the reference has none."""
        parameters = list(self.network.parameters())
        found = torch.autograd.grad(loss, parameters, allow_unused=True)
        return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


@pytest.mark.parametrize(("heads", "layers"), [*((heads, 2) for heads in HEADS), ("values", 0)])
def test_loss_and_gradients_are_those_of_the_reference(heads: str, layers: int) -> None:
    """Of batches of states of both sizes, with much room left and with little."""
    step = Step(heads, layers)
    last = len(step.data) - 1
    for chosen in ([0, 1, 2], [last, 3, last - 1], [last - 2, last - 3, last]):
        indices = torch.tensor(chosen, device=DEVICE)
        expected = batch_loss(step.network, *step.data.take(indices), REFERENCE)
        with NOTHING_READ_BACK():
            found = step.loss(indices)
            gradients = step.gradients(found)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(gradients, step.gradients(expected), rtol=1e-4, atol=1e-5)


def test_a_batch_without_room_is_told_of_and_harms_nothing() -> None:
    """A graph lays out whatever batch comes next, and is captured on one that nobody has looked at."""
    step = Step("both", room=0.4)
    many, few = torch.arange(len(step.data))[-BATCH:], torch.tensor([0, 0, 0])
    assert not step.laid_out.batcher.fits(many) and step.laid_out.batcher.fits(few[:1])
    loss = step.loss(many.to(DEVICE))
    assert loss.isfinite() and all(gradient.isfinite().all() for gradient in step.gradients(loss))
