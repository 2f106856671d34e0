"""Analysis: what architectures can and cannot express on the states of a domain."""

from trifold.analysis.architectures import ARCHITECTURES, Architecture, Folklore
from trifold.analysis.expressivity import Depth, Expressivity, Finding, Witness, compare_architectures, expressivity
from trifold.analysis.plot import plot_expressivity
from trifold.analysis.witness import WitnessState

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "Depth",
    "Expressivity",
    "Finding",
    "Folklore",
    "Witness",
    "WitnessState",
    "compare_architectures",
    "expressivity",
    "plot_expressivity",
]
