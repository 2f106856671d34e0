"""What a model file says of its model, checked by type and size before anything is built from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trifold.model.config import ModelConfig
from trifold.sealed import Damaged
from trifold.structures import CONSTANT, Signature

if TYPE_CHECKING:
    from trifold.pddl import Domain

MAX_ARITY = 100
MAX_RELATIONS = 10_000


@dataclass(frozen=True)
class ModelHeader:
    """All of a model but its weights; see ``Model``."""

    config: ModelConfig
    signature: Signature
    domain_text: str
    training_atoms: dict[str, int]
    provenance: dict[str, Any]
    schemas: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The header as JSON."""
        actions = {"schemas": [list(schema) for schema in self.schemas]} if self.config.has_actions else {}
        return {
            "kind": "model",
            "config": self.config.to_json(),
            "signature": [list(relation) for relation in self.signature],
            **actions,
            "domain": self.domain_text,
            "training_atoms": self.training_atoms,
            "provenance": self.provenance,
        }

    def read_domain(self) -> Domain:
        """The domain, from its PDDL."""
        from trifold.expressions import Source
        from trifold.pddl import load_domain

        return load_domain(Source(self.domain_text, "the model's domain"))

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> ModelHeader:
        """Read a header; what cannot be one is ``Damaged``."""
        relations, domain, atoms, provenance = (
            header.get(name) for name in ("signature", "domain", "training_atoms", "provenance")
        )
        if not isinstance(relations, list) or len(relations) > MAX_RELATIONS or not all(map(_is_relation, relations)):
            raise Damaged("its header has no signature")
        if not isinstance(domain, str) or not _is_unicode(domain):
            raise Damaged("its header has no domain")
        if not isinstance(atoms, dict) or not all(type(n) is int and 0 <= n < 2**63 for n in atoms.values()):
            raise Damaged("its header has no training_atoms")
        if not isinstance(provenance, dict | None):
            raise Damaged("its header has no provenance")
        signature = Signature.of((name, arity) for name, arity in relations)
        config = ModelConfig.from_json(header.get("config"))
        schemas = header.get("schemas") if config.has_actions else []
        if not isinstance(schemas, list) or not all(_is_relation(schema, least=0) for schema in schemas):
            raise Damaged("its header has no schemas of actions")
        if len({name for name, _ in schemas}) != len(schemas) or len(schemas) > MAX_RELATIONS:
            raise Damaged("its header has a schema twice, or too many")
        if schemas != sorted(schemas):
            raise Damaged("the schemas of its header are not sorted")
        named = tuple((name, arity) for name, arity in schemas)
        return cls(config, signature, domain, atoms, provenance or {}, named)._with_constants()

    def _with_constants(self) -> ModelHeader:
        """The same with the relations of constants, where the model is older than they are: it ignores them."""
        if ":constants" not in self.domain_text.lower():
            return self
        found = self.read_domain().signature
        older = tuple(relation for relation in found if not relation.name.startswith(CONSTANT))
        return replace(self, signature=found) if self.signature.relations == older else self


def _is_relation(value: object, least: int = 1) -> bool:
    match value:
        case [str(name), int(arity)]:
            return bool(name) and _is_unicode(name) and not isinstance(arity, bool) and least <= arity <= MAX_ARITY
    return False


def _is_unicode(text: str) -> bool:
    """Whether it can be written: JSON can name halves of characters, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
