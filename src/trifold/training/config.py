"""The config.json of a run: what was asked for, so that the run can go on without being asked again."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from trifold.data import read_folder
from trifold.errors import TrifoldError
from trifold.sealed import Damaged
from trifold.shipped import place_of
from trifold.training.recipe import Recipe, recorded_recipe

MAX_THREADS = 4_096


def describe_run(
    directory: Path,
    recipe: Recipe,
    device: str,
    teacher: Path | str | None = None,
    practice: Path | str | None = None,
) -> dict[str, Any]:
    """What config.json says of a training by a recipe from the problems of a folder."""
    if practice is not None and teacher is None:
        raise TrifoldError(
            "a pupil practises where there is a teacher to say what is good",
            remedy="name a model with --teacher, or leave out --practice",
        )
    settings = recipe.settings
    if settings.begin is not None:
        settings = replace(settings, begin=place_of(settings.begin))
    return {
        "directory": str(directory.resolve()),
        "teacher": None if teacher is None else place_of(teacher),
        "practice": None if practice is None else str(Path(practice).resolve()),
        "preset": recipe.name,
        "model": recipe.model.to_json(),
        "settings": settings.to_json(),
        "limits": asdict(recipe.limits),
        "selection": recipe.selection and asdict(recipe.selection),
        "device": device,
        "threads": torch.get_num_threads(),
        "command": sys.argv,
    }


def check_config(content: dict[str, Any]) -> None:
    """Raise unless all that a run reads from its config.json is there, and of its type."""
    for name in ("directory", "preset", "device"):
        if not isinstance(content[name], str) or "\0" in content[name]:
            raise Damaged(f"its {name} is no text")
    for name in ("teacher", "practice"):  # which older runs have not
        if (place := content.get(name)) is not None and (not isinstance(place, str) or "\0" in place):
            raise Damaged(f"its {name} is no text")
    if type(content["threads"]) is not int or not 1 <= content["threads"] <= MAX_THREADS:
        raise Damaged(f"its threads are {content['threads']!r:.20}")
    if not isinstance(content["command"], list) or not all(isinstance(word, str) for word in content["command"]):
        raise Damaged("its command is no list of words")
    recorded_recipe(content)
    read_folder(Path(content["directory"]))
