"""Networks: structures → embeddings → values."""

from trifold.nn.aggregate import SHARPNESS, smooth_max
from trifold.nn.backends import BACKENDS, KERNELS, REFERENCE, Backend, choose_backend
from trifold.nn.edge_transformer import EdgeTransformer
from trifold.nn.fused import PRECISIONS, FusedRGNN
from trifold.nn.incidence import Incidence
from trifold.nn.initial import InitialEmbeddings
from trifold.nn.layout import Batcher, Capacity, Layout
from trifold.nn.mish import mish
from trifold.nn.mlp import MLP
from trifold.nn.network import Network
from trifold.nn.readout import Readout
from trifold.nn.rgnn import RGNN

__all__ = [
    "BACKENDS",
    "KERNELS",
    "MLP",
    "PRECISIONS",
    "REFERENCE",
    "RGNN",
    "SHARPNESS",
    "Backend",
    "Batcher",
    "Capacity",
    "EdgeTransformer",
    "FusedRGNN",
    "Incidence",
    "InitialEmbeddings",
    "Layout",
    "Network",
    "Readout",
    "choose_backend",
    "mish",
    "smooth_max",
]
