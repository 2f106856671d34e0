"""An R-GNN in compiled code, for CPUs: from the atoms of states to V and scores in one call. It needs numpy alone.

The library is compiled when Trifold is installed, if there is a C++ compiler; ``obstacle`` says why there is none.
"""

from trifold.native.library import SWITCH, instructions, obstacle, use_instructions
from trifold.native.network import SHARPNESS, MlpWeights, NativeNetwork, NetworkWeights, Question

__all__ = [
    "SHARPNESS",
    "SWITCH",
    "MlpWeights",
    "NativeNetwork",
    "NetworkWeights",
    "Question",
    "instructions",
    "obstacle",
    "use_instructions",
]
