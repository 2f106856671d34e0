"""Labelled data sets: label, cache, split, encode."""

from trifold.data.advice import advise, compare_extents, describe_extent
from trifold.data.dataset import DEAD_ENDS, Dataset, dead_end_target, room
from trifold.data.extent import Extent, Reach
from trifold.data.folder import ProblemFolder, read_folder
from trifold.data.labels import Labelled, default_cache, label
from trifold.data.split import GIVEN, HELD_OUT, SHARED, Split, count_outcomes, recorded_split, remedy_of, split
from trifold.data.summary import Summary, find_splits, summarise_labels
from trifold.limits import LabelLimits

__all__ = [
    "DEAD_ENDS",
    "GIVEN",
    "HELD_OUT",
    "SHARED",
    "Dataset",
    "Extent",
    "LabelLimits",
    "Labelled",
    "ProblemFolder",
    "Reach",
    "Split",
    "Summary",
    "advise",
    "compare_extents",
    "count_outcomes",
    "dead_end_target",
    "default_cache",
    "describe_extent",
    "find_splits",
    "label",
    "read_folder",
    "recorded_split",
    "remedy_of",
    "room",
    "split",
    "summarise_labels",
]
