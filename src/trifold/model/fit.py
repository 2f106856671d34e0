"""Whether a model fits a domain, and what of a problem its training never had: told by names alone, without torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from trifold.errors import TrifoldError
from trifold.structures import CONSTANT, MARK, Signature

if TYPE_CHECKING:
    from trifold.model.header import ModelHeader
    from trifold.pddl import Domain

GOAL = "@goal"
"""In the names of the relations of goals."""


class UntrainedRelation(UserWarning):
    """A state has atoms of a relation, or actions of a schema, that no training state had."""


def check_fit(header: ModelHeader, domain: Domain) -> None:
    """Raise, naming what differs, if a model is of another domain."""
    if domain.signature != header.signature:
        raise _misfit(header, domain, tell_difference(header.signature, domain.signature))
    if header.config.has_actions and domain.schemas != header.schemas:
        other = sorted(set(domain.schemas) ^ set(header.schemas))[0][0]
        raise _misfit(header, domain, f"the model does not fit the domain: its action {other} is another")


def _misfit(header: ModelHeader, domain: Domain, message: str) -> TrifoldError:
    """The error that a model does not fit a domain: another one, or another text of its own."""
    own = header.read_domain().name
    if own == domain.name:
        where = "--domain, or domain.pddl beside the problems"
        remedy = f"give a model of this domain, or leave its text out ({where}): the model carries its own"
    else:
        message = message.replace("the domain", f"the domain {domain.name}, for it is of {own}", 1)
        remedy = f"give a model of this domain, or problems of {own}: `trifold models` lists the models in the box"
    return TrifoldError(message, remedy=remedy)


def tell_difference(ours: Signature, theirs: Signature) -> str:
    """Say which relations of a model a domain lacks, and which it has beyond them."""
    parts = []
    for owner, only in (("model", set(ours) - set(theirs)), ("domain", set(theirs) - set(ours))):
        names = {name for name, _ in only}
        # p@goal differs with p: saying so of p is enough.
        told = [f"{name}/{arity}" for name, arity in sorted(only) if "@" not in name or name.split("@")[0] not in names]
        if told:
            parts.append(f"only the {owner} has {', '.join(told)}")
    return "the model does not fit the domain: " + "; ".join(parts or ["their relations are in another order"])


def untrained(signature: Signature, counts: Iterable[int], training_atoms: Mapping[str, int]) -> list[str]:
    """Of relations with so many atoms in some states, those that have some and in training had none.

    Relations of constants are not told: every state has them, and a model that does not know them is older than they.
    """
    trained = {name.removesuffix(MARK) for name, count in training_atoms.items() if count}
    found = [name for (name, _), count in zip(signature, counts, strict=True) if count and name not in trained]
    return [name for name in found if not name.startswith(CONSTANT)]


def untrained_message(name: str) -> str:
    """What a user is told of a relation that training had no atoms of."""
    return f"no training state had an atom of {name}: the model ignores such atoms"


def unknown_message(schema: str) -> str:
    """What a user is told of an action schema that training had no actions of."""
    return f"no training state had an action {schema}: it is taken where nothing else is left"
