"""The page of what programs use: the public names of the package and of the rooms that one adds to."""

from __future__ import annotations

from collections.abc import Iterable

import trifold

INTRODUCTION = """\
# All public names

What `import trifold` gives, and what plugins and programs use besides. Each text is the docstring of what it is about,
and its examples are run as tests. [Python](python.md) shows them at work.
"""

PUBLIC = {
    "Training": ["train", "resume", "climb", "resume_climb", "select", "study", "read_recipe", "Recipe"],
    "Models": ["pretrained", "Model", "ModelConfig"],
    "Solving": ["solve", "load_domain", "load_problem", "Outcome", "TrifoldError"],
    "Looking closer": ["explain", "trace_page", "evaluate", "report_page"],
    "Problems": ["generate", "label", "expressivity"],
    "Structures": ["Signature", "Structures", "Plain", "Pairs"],
}
"""The names that the package gives, by what they are for."""

ROOMS = {
    "Policies and searches of one's own": [
        "trifold.planning.Task",
        "trifold.planning.Scores",
        "trifold.planning.Budget",
        "trifold.planning.Trajectory",
    ],
    "Domains of one's own": [
        "trifold.domains.Generator",
        "trifold.domains.problem_text",
        "trifold.domains.certificate",
    ],
    "Encoders of one's own": ["trifold.encoders.Encoder", "trifold.structures.Relation"],
    "Relational joins": ["trifold.logic.parse", "trifold.logic.parameters", "trifold.logic.compile_joins"],
}
"""What is used from the rooms themselves, by what it is for."""


def names_page() -> str:
    """The page as Markdown, with a line for each name that mkdocstrings puts the documentation in place of."""
    told = {name for names in PUBLIC.values() for name in names}
    if wrong := told ^ (set(trifold.__all__) - {"__version__"}):
        raise ValueError(f"not on the page of names, or not public: {sorted(wrong)}")
    public = {title: [_place(name) for name in names] for title, names in PUBLIC.items()}
    return "\n".join([INTRODUCTION, *(_section(title, names) for title, names in (public | ROOMS).items())])


def _place(name: str) -> str:
    """Where a public name is defined: a room may have a module of the same name."""
    named = getattr(trifold, name)
    return f"{named.__module__}.{named.__qualname__}"


def _section(title: str, names: Iterable[str]) -> str:
    return "\n".join([f"## {title}\n", *(f"::: {name}\n" for name in names)])
