"""Trifold learns general policies for classical planning with R-GNN[t].

>>> import trifold
>>> result = trifold.train("gripper", "runs/tiny", recipe="small", steps=2)  # domain.pddl and problems
>>> model = trifold.Model.load("model.safetensors")
>>> model
Model(R-GNN[1] for gripper-strips, k 16, L 6, V, ... parameters)
>>> trajectory = model.solve("problem.pddl")
>>> trajectory.outcome, trajectory.actions[-1][:6]
(<Outcome.SOLVED: 'solved'>, '(drop ')
>>> problem = trifold.load_problem(model.domain, "problem.pddl")
>>> model.values([problem.initial_state]).shape
torch.Size([1])
>>> [record["outcome"] for record in trifold.evaluate(model, "gripper/train")]
['solved', 'solved', 'solved']

The names below are the public API. They are imported when first used, so that `import trifold` is quick.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from trifold.lazy import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from trifold.analysis import expressivity as expressivity
    from trifold.data import label as label
    from trifold.domains import generate as generate
    from trifold.encoders import Pairs as Pairs
    from trifold.encoders import Plain as Plain
    from trifold.errors import TrifoldError as TrifoldError
    from trifold.evaluation import evaluate as evaluate
    from trifold.explanation import explain as explain
    from trifold.model import Model as Model
    from trifold.model import ModelConfig as ModelConfig
    from trifold.outcomes import Outcome as Outcome
    from trifold.pages import trace_page as trace_page
    from trifold.pddl import load_domain as load_domain
    from trifold.pddl import load_problem as load_problem
    from trifold.planning import solve as solve
    from trifold.reports import report_page as report_page
    from trifold.selection import select as select
    from trifold.shipped import pretrained as pretrained
    from trifold.structures import Signature as Signature
    from trifold.structures import Structures as Structures
    from trifold.training import Recipe as Recipe
    from trifold.training import read_recipe as read_recipe
    from trifold.watched import climb as climb
    from trifold.watched import resume as resume
    from trifold.watched import resume_climb as resume_climb
    from trifold.watched import study as study
    from trifold.watched import train as train

__all__ = [
    "Model",
    "ModelConfig",
    "Outcome",
    "Pairs",
    "Plain",
    "Recipe",
    "Signature",
    "Structures",
    "TrifoldError",
    "__version__",
    "climb",
    "evaluate",
    "explain",
    "expressivity",
    "generate",
    "label",
    "load_domain",
    "load_problem",
    "pretrained",
    "read_recipe",
    "report_page",
    "resume",
    "resume_climb",
    "select",
    "solve",
    "study",
    "trace_page",
    "train",
]

__getattr__ = lazily(__name__)

if "IPython" in sys.modules:  # in a notebook objects show themselves
    from trifold.notebook import register

    register()


def load_ipython_extension(shell: object) -> None:
    """What ``%load_ext trifold`` does: objects show themselves, also where Trifold was imported before IPython."""
    from trifold.notebook import register

    register(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
