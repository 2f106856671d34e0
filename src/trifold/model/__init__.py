"""A model: encoder, network and readout, and the file that holds them.

What needs torch is imported when it is first used: ``open_model`` reads and runs most models without it.
"""

from typing import TYPE_CHECKING

from trifold.lazy import lazily
from trifold.model.config import HEADS, NETWORKS, ModelConfig
from trifold.model.device import choose_device
from trifold.model.fit import UntrainedRelation
from trifold.model.native import NativeModel
from trifold.model.quickest import open_model

if TYPE_CHECKING:
    from trifold.model.checkpoint import read_tensors
    from trifold.model.checkpoint import write as write_checkpoint
    from trifold.model.model import BeyondBackend, Model
    from trifold.model.network import HeadedNetwork, LaidOutNetwork
    from trifold.model.opening import opened as open_checkpoint

__getattr__ = lazily(__name__)

__all__ = [
    "HEADS",
    "NETWORKS",
    "BeyondBackend",
    "HeadedNetwork",
    "LaidOutNetwork",
    "Model",
    "ModelConfig",
    "NativeModel",
    "UntrainedRelation",
    "choose_device",
    "open_checkpoint",
    "open_model",
    "read_tensors",
    "write_checkpoint",
]
