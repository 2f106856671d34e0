"""Where a training begins: at the weights of a model that is good already, instead of random ones.

What it learned before it may forget, if the problems of now do not show it: they are meant to be those of before, and
more. Moments of the optimizer and the schedule begin anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from trifold.errors import TrifoldError
from trifold.evaluation import file_sha256
from trifold.files import MOST_DATA_BYTES
from trifold.model import Model, ModelConfig
from trifold.pddl import Domain
from trifold.shipped import find_model


@dataclass(frozen=True)
class Beginning:
    """A model whose weights a training begins with.

    name, sha256  what it is called, and the hash of its file
    """

    model: Model
    name: str
    sha256: str

    @classmethod
    def read(cls, name: str | None, domain: Domain, own: ModelConfig) -> Beginning | None:
        """That of this name or file, if there is one; raises if it is of another domain or architecture."""
        if name is None:
            return None
        file = find_model(name)
        model = Model.load(file)
        model.check_domain(domain)
        if replace(model.config, heads=own.heads, layers=own.layers) != own:  # all layers share their weights
            given, asked = (f"{config.label} with k = {config.dim}" for config in (model.config, own))
            raise TrifoldError(
                f"its weights are those of {given}, and {asked} is to be trained",
                place=name,
                remedy=f"--set encoder={model.config.encoder} --set t={model.config.t} --set dim={model.config.dim} "
                f"--set sharpness={model.config.sharpness}, or another model",
            )
        return cls(model, name, file_sha256(file, MOST_DATA_BYTES))

    def give(self, model: Model) -> None:
        """Set the weights that both have; those of heads and relations that this model lacks stay as they are."""
        found = dict(zip(self.model.network.names(), self.model.network.state_dict().values(), strict=True))
        own = model.network.state_dict()
        for name, weight in zip(model.network.names(), own.values(), strict=True):
            if name in found:
                weight.copy_(found[name])

    def to_json(self) -> dict[str, str]:
        """What a run and its models say of it."""
        return {"model": self.name, "sha256": self.sha256}
