"""Engines for Unified Planning, registered when this is imported; needs the extra ``up``: pip install "trifold[up]".

>>> import trifold.up
>>> from unified_planning.shortcuts import OneshotPlanner, get_environment
>>> get_environment().credits_stream = None
>>> OneshotPlanner(name="trifold", params={"model": "gripper"}).name
'Trifold'
"""

from __future__ import annotations

from typing import Any

try:
    from unified_planning.engines import OperationMode
    from unified_planning.environment import get_environment
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "unified_planning":
        raise
    raise ModuleNotFoundError(
        'trifold.up needs Unified Planning: pip install "trifold[up]"', name=error.name
    ) from error

from trifold.up.planner import Planner
from trifold.up.selector import ActionSelector
from trifold.up.validation import Verdict, validate

__all__ = ["ActionSelector", "Planner", "Verdict", "register", "validate"]


def register(environment: Any = None) -> None:
    """Make the engine ``trifold`` known to an environment of Unified Planning; None is the global one.

    Where Unified Planning has action selectors (versions after 1.3), ``trifold-selector`` is known, too.
    """
    factory = (environment or get_environment()).factory
    engines = {"trifold": "Planner"}
    if hasattr(OperationMode, "ACTION_SELECTOR"):
        engines["trifold-selector"] = "ActionSelector"
    for name, class_name in engines.items():
        if name not in factory.engines:
            factory.add_engine(name, __name__, class_name)


register()
