"""Studies: recipes in a grid of settings, with several seeds, in several domains, trained, evaluated and summed up."""

from trifold.studies.cells import Cell
from trifold.studies.description import read_study
from trifold.studies.result import DONE, LEFT, CellReport, Studied
from trifold.studies.steps import DRAW, EVALUATE, LABEL, SELECT, STAGES, TRAIN, Step
from trifold.studies.study import Plan, plan, study
from trifold.studies.summary import Line, Spread
from trifold.studies.watcher import StudyWatcher

__all__ = [
    "DONE",
    "DRAW",
    "EVALUATE",
    "LABEL",
    "LEFT",
    "SELECT",
    "STAGES",
    "TRAIN",
    "Cell",
    "CellReport",
    "Line",
    "Plan",
    "Spread",
    "Step",
    "Studied",
    "StudyWatcher",
    "plan",
    "read_study",
    "study",
]
