"""A model: encoder, network and readout, and the file that holds them."""

from trifold.model.checkpoint import opened as open_checkpoint
from trifold.model.checkpoint import read_tensors
from trifold.model.checkpoint import write as write_checkpoint
from trifold.model.config import HEADS, NETWORKS, ModelConfig
from trifold.model.device import choose_device
from trifold.model.model import BeyondBackend, Model, UntrainedRelation
from trifold.model.network import HeadedNetwork, LaidOutNetwork

__all__ = [
    "HEADS",
    "NETWORKS",
    "BeyondBackend",
    "HeadedNetwork",
    "LaidOutNetwork",
    "Model",
    "ModelConfig",
    "UntrainedRelation",
    "choose_device",
    "open_checkpoint",
    "read_tensors",
    "write_checkpoint",
]
