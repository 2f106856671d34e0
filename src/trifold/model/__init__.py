"""A model: encoder, network and readout, and the file that holds them."""

from trifold.model.config import ModelConfig
from trifold.model.device import choose_device
from trifold.model.model import BeyondBackend, Model, UntrainedRelation
from trifold.model.network import ValueNetwork

__all__ = ["BeyondBackend", "Model", "ModelConfig", "UntrainedRelation", "ValueNetwork", "choose_device"]
