"""The architectures of the paper as colour refinements: what each one reads, and who hears of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import torch

from trifold.encoders import Compositions, Encoder, Marks, Oblivious, Pairs, Plain, encode_chunks
from trifold.errors import TrifoldError
from trifold.memory import MESSAGES_TO_COLOUR
from trifold.structures import Relation, Signature, Structures, concatenate
from trifold.wl import FOLKLORE, Colouring, add_compositions, refine


@dataclass(frozen=True)
class Folklore:
    """S ↦ the marks of S and all compositions of pairs: 2-FWL.

    It bounds the Edge Transformer, which reads the same marks and attends to the same triples, one message for each.

    >>> state = Structures.build(Signature.of([("on", 2)]), [2], {"on": [[[0, 1]]]})
    >>> Folklore()(state).signature.names
    ('on@mark', '@object@mark', '@readout', '@triangle')
    """

    label = "2-FWL (ET)"

    def signature(self, objects: Signature) -> Signature:
        """The signature of the encoded structures."""
        return Signature((*Marks().signature(objects).relations, *(Relation(name, 3) for name in FOLKLORE)))

    def __call__(self, structures: Structures) -> Structures:
        return add_compositions(Marks()(structures))


@dataclass(frozen=True)
class Architecture:
    """An architecture as far as colours know it.

    encoder    what it reads
    settings   of a recipe that trains it
    receivers  for some relations, the only positions told
    """

    encoder: Encoder
    settings: Mapping[str, str | int] = field(default_factory=dict)
    receivers: Mapping[str, Collection[int]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name of the architecture."""
        return self.encoder.label

    def encode(self, structures: Structures) -> tuple[Structures, float]:
        """The encoded structures, and how many messages a layer sends in the mean; raise if there are too many."""
        parts: list[Structures] = []
        messages = 0
        for part in encode_chunks(self.encoder, structures):
            told = [len(self.receivers.get(one.name, range(one.arity))) * one.sends for one in part.signature]
            messages += int(part.atom_counts.sum(1) @ torch.tensor(told))
            if messages > MESSAGES_TO_COLOUR:
                limit = f"more than {MESSAGES_TO_COLOUR:,} messages a layer"
                raise TrifoldError(f"{limit} on {len(structures):,} states: colour fewer states")
            parts.append(part)
        return concatenate(parts), messages / len(structures)

    def colour(self, encoded: Structures) -> Colouring:
        """The classes of encoded structures after each round, to the fixed point."""
        return refine(encoded, None, receivers=self.receivers)


ARCHITECTURES = (
    Architecture(Plain(), {"encoder": "plain"}),
    Architecture(Pairs(0), {"t": 0}),
    Architecture(Pairs(1), {"t": 1}),
    Architecture(Pairs(2), {"t": 2}),
    Architecture(Compositions(), {"encoder": "compositions"}),
    Architecture(Oblivious(), {"encoder": "oblivious"}),
    Architecture(Folklore(), {"encoder": "marks"}, FOLKLORE),
)
"""R-GNN, R-GNN[0], [1], [2], R-GNN₂, 2-GNN and 2-FWL."""
