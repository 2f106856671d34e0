"""Who shows what: types by their names, so that none of them is imported before one is shown."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from trifold.errors import TrifoldError

SHOWN = {
    ("trifold.pddl.problem", "Problem"): "problems:show_problem",
    ("trifold.pddl.problem", "State"): "problems:show_state",
    ("trifold.planning.policy", "Trajectory"): "ways:show_trajectory",
    ("trifold.explanation.explanation", "Explanation"): "ways:show_explanation",
    ("trifold.model.model", "Model"): "models:show_model",
    ("trifold.training.train", "TrainingResult"): "models:show_training",
    ("trifold.ladder.result", "Climbed"): "models:show_ladder",
    ("trifold.evaluation.records", "Records"): "results:show_records",
    ("trifold.analysis.expressivity", "Expressivity"): "results:show_expressivity",
}
"""The module and the name of each type, and the function of this room that shows it."""


def register(shell: Any = None) -> None:
    """Let a shell of IPython show objects of Trifold; if none is given, the one that runs, if one does."""
    if shell is None:
        found = sys.modules.get("IPython")
        shell = found.get_ipython() if found is not None and hasattr(found, "get_ipython") else None
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for module, name in SHOWN:
            formatter.for_type_by_name(module, name, html)


def html(shown: object) -> str:
    """HTML for an object of Trifold, as a notebook shows it: for places that IPython does not run.

    >>> from trifold import load_domain, load_problem
    >>> html(load_problem(load_domain("gripper/domain.pddl"), "problem.pddl"))[:24]
    '<div><p>Problem(gripper-'
    """
    for kind in type(shown).__mro__:
        if place := SHOWN.get((kind.__module__, kind.__qualname__)):
            module, _, name = place.partition(":")
            told: str = getattr(import_module(f"trifold.notebook.{module}"), name)(shown)
            return told
    raise TrifoldError(f"a {type(shown).__name__} has no picture", remedy="print it")
