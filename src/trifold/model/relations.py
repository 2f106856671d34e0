"""The relations that a model knows: those of its training."""

from __future__ import annotations

from collections.abc import Sequence

from trifold.encoders import Queried
from trifold.errors import TrifoldError
from trifold.model.config import ModelConfig
from trifold.structures import APPLICABLE, OPTIMAL, READOUT, Relation, Signature, query_relations


def trained_relations(
    config: ModelConfig,
    signature: Signature,
    training_atoms: dict[str, int],
    schemas: Sequence[tuple[str, int]] = (),
) -> list[Relation]:
    """The encoded relations that get parameters: those with atoms in the training data, the readout aside.

    Of the two queries of an action schema, the one of all applicable actions stands for both.
    """
    queries = query_relations(schemas) if config.has_actions else ()
    met = {name.replace(OPTIMAL, APPLICABLE) for name, count in training_atoms.items() if count}
    encoded = Queried(config.build_encoder()).signature(Signature((*signature, *queries)))
    if READOUT not in encoded:
        raise TrifoldError(
            f"the encoder {config.encoder} makes no {READOUT}, so nothing can be read out",
            remedy="let it make this relation of the elements that are read out: see docs/architecture.md",
        )
    return [relation for relation in encoded if relation.name != READOUT and relation.name in met]
