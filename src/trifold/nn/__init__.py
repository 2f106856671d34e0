"""Networks: structures → embeddings → values."""

from trifold.nn.aggregate import SHARPNESS, smooth_max
from trifold.nn.edge_transformer import HEADS, EdgeTransformer
from trifold.nn.incidence import Incidence
from trifold.nn.initial import InitialEmbeddings
from trifold.nn.mlp import MLP
from trifold.nn.readout import Readout
from trifold.nn.rgnn import RGNN

__all__ = [
    "HEADS",
    "MLP",
    "RGNN",
    "SHARPNESS",
    "EdgeTransformer",
    "Incidence",
    "InitialEmbeddings",
    "Readout",
    "smooth_max",
]
