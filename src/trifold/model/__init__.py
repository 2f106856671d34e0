"""A model: encoder, network and readout, and the file that holds them."""

from trifold.model.config import ModelConfig
from trifold.model.device import choose_device
from trifold.model.model import Model, UntrainedRelation
from trifold.model.network import ValueNetwork

__all__ = ["Model", "ModelConfig", "UntrainedRelation", "ValueNetwork", "choose_device"]
