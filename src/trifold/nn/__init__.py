"""Networks: structures → embeddings → values."""

from trifold.native import SHARPNESS
from trifold.nn.aggregate import smooth_max
from trifold.nn.backends import BACKENDS, KERNELS, REFERENCE, Backend, FixedNetwork, choose_backend
from trifold.nn.edge_transformer import EdgeTransformer
from trifold.nn.fused import PRECISIONS, FusedRGNN
from trifold.nn.incidence import Incidence
from trifold.nn.initial import InitialEmbeddings
from trifold.nn.layout import BLOCK, Batcher, Capacity, Layout
from trifold.nn.mish import mish
from trifold.nn.mlp import MLP
from trifold.nn.network import Network
from trifold.nn.readout import Readout, pool_readout
from trifold.nn.rgnn import RGNN
from trifold.nn.scores import ActionScores, Found, Scored, action_loss, best_are_optimal, find_queries, has_best_action

__all__ = [
    "BACKENDS",
    "BLOCK",
    "KERNELS",
    "MLP",
    "PRECISIONS",
    "REFERENCE",
    "RGNN",
    "SHARPNESS",
    "ActionScores",
    "Backend",
    "Batcher",
    "Capacity",
    "EdgeTransformer",
    "FixedNetwork",
    "Found",
    "FusedRGNN",
    "Incidence",
    "InitialEmbeddings",
    "Layout",
    "Network",
    "Readout",
    "Scored",
    "action_loss",
    "best_are_optimal",
    "choose_backend",
    "find_queries",
    "has_best_action",
    "mish",
    "pool_readout",
    "smooth_max",
]
