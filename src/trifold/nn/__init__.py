"""Networks: structures → embeddings → values."""

from trifold.nn.aggregate import SHARPNESS, smooth_max
from trifold.nn.incidence import Incidence
from trifold.nn.mlp import MLP
from trifold.nn.readout import Readout
from trifold.nn.rgnn import RGNN

__all__ = ["MLP", "RGNN", "SHARPNESS", "Incidence", "Readout", "smooth_max"]
