"""Colours instead of vectors: the Weisfeiler-Leman algorithms, on graphs and on relational structures."""

from trifold.wl.conflicts import Conflicts, find_conflicts
from trifold.wl.exact import refine_exactly
from trifold.wl.folklore import FOLKLORE, add_compositions
from trifold.wl.graphs import Graph, k_fwl, k_owl, one_wl, separated
from trifold.wl.refinement import Colouring, digest, number_classes, refine

__all__ = [
    "FOLKLORE",
    "Colouring",
    "Conflicts",
    "Graph",
    "add_compositions",
    "digest",
    "find_conflicts",
    "k_fwl",
    "k_owl",
    "number_classes",
    "one_wl",
    "refine",
    "refine_exactly",
    "separated",
]
