"""Colours instead of vectors: Weisfeiler-Leman colour refinement of relational structures."""

from trifold.wl.conflicts import Conflicts, find_conflicts
from trifold.wl.folklore import FOLKLORE, add_compositions
from trifold.wl.hashing import count_different, first_colours, hash_atoms, recolour
from trifold.wl.refinement import Colouring, digest, number_classes, refine

__all__ = [
    "FOLKLORE",
    "Colouring",
    "Conflicts",
    "add_compositions",
    "count_different",
    "digest",
    "find_conflicts",
    "first_colours",
    "hash_atoms",
    "number_classes",
    "recolour",
    "refine",
]
