"""The cells of a study: each is a domain, a recipe with its place in the grid, and a seed, or a model that is given."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.studies.description import EACH, Description, RecipeChoice
from trifold.studies.problems import Problems
from trifold.training import Recipe, Value, find_key, read_recipe

WITHOUT_T = ("plain", "compositions", "oblivious", "marks")
"""Encoders that are the same for every t."""

DIGITS = 8
"""Of the hash in the name of a cell's folder."""


@dataclass(frozen=True)
class Cell:
    """A training and what its model does, or a given model and what that does.

    choice   the name of the recipe, or of the model, in the study
    recipe   what the study calls the recipe, with its values of the grid, or the model
    seed     of the training; None of a given model
    chosen   the recipe, with all that is changed in it; None of a given model
    given    the model that is not trained here
    digest   of all that the training depends on: its problems and its recipe
    """

    domain: str
    choice: str
    recipe: str
    seed: int | None
    chosen: Recipe | None = field(compare=False)
    given: str | None
    digest: str

    def __str__(self) -> str:
        return f"{self.domain} {self.recipe}" + ("" if self.seed is None else f" seed {self.seed}")

    @property
    def place(self) -> str:
        """Its folder in ``runs``: another problem or setting makes it another one."""
        seed = "" if self.seed is None else f"-seed-{self.seed}"
        return f"{self.domain}/{self.recipe.replace(' ', '-')}{seed}-{self.digest}"

    def facts(self) -> dict[str, Any]:
        """What it is, as JSON."""
        recipe = self.chosen and {"name": self.chosen.name, **as_job(self.chosen)}
        return {"domain": self.domain, "recipe": self.recipe, "seed": self.seed, "model": self.given} | (recipe or {})


def as_job(recipe: Recipe) -> dict[str, Any]:
    """A recipe as ``recorded_recipe`` reads it."""
    return {
        "preset": recipe.name,
        "model": recipe.model.to_json(),
        "settings": recipe.settings.to_json(),
        "limits": asdict(recipe.limits),
        "selection": recipe.selection and asdict(recipe.selection),
    }


def expand(study: Description, problems: Mapping[str, Problems]) -> tuple[list[Cell], list[str]]:
    """All cells: given models, then seed by seed, so that all recipes can be compared early; and what was left out.

    Two places of the grid that are one training, as those of t are without pairs, make one cell.
    """
    cells: dict[str, Cell] = {}
    notes: dict[str, None] = {}
    for domain, (name, text) in product(study.domains, study.models.items()):
        model = text.replace(EACH, domain.name)
        model = str(study.place / model) if Path(model).name != model or Path(model).suffix else model
        digest = hashlib.sha256(model.encode()).hexdigest()[:DIGITS]
        cell = Cell(domain.name, name, name.replace(EACH, domain.name), None, None, model, digest)
        cells[cell.place] = cell
    for seed, domain, choice in product(study.seeds, study.domains, study.recipes):
        before: dict[str, str] = {}
        for name, changes in _places(study, choice):
            recipe = _build(study, choice, domain.name, changes | {"seed": seed})
            cell = Cell(domain.name, choice.name, name, seed, recipe, None, _digest(problems[domain.name], recipe))
            if cell.digest in before:
                notes[f"{name} is left out: it is the same training as {before[cell.digest]}"] = None
            else:
                before[cell.digest] = name
                cells[cell.place] = cell
    _check_seeds(list(cells.values()))
    return list(cells.values()), list(notes)


def _places(study: Description, choice: RecipeChoice) -> Iterator[tuple[str, dict[str, Value]]]:
    """The places of the grid, each with the name of the recipe there and all that is changed in it."""
    fixed = {find_key(key)[1]: value for key, value in (study.settings | choice.changes).items()}
    grid = {find_key(key)[1]: values for key, values in (study.grid | choice.grid).items()}
    forced = {find_key(key)[1]: value for key, value in study.forced.items()}
    if twice := sorted(forced.keys() & grid.keys()):
        raise TrifoldError(f"{twice[0]} is in the grid of the study, and is changed", remedy="leave out one of the two")
    for values in product(*grid.values()):
        here = dict(zip(grid, values, strict=True))
        name = " ".join([choice.name, *(f"{key}={_spell(value)}" for key, value in here.items())])
        yield name, fixed | here | forced


def _build(study: Description, choice: RecipeChoice, domain: str, changes: dict[str, Value]) -> Recipe:
    base = choice.base.replace(EACH, domain)
    try:
        return read_recipe(study.place / base if base.endswith(".toml") else base, changes)
    except TrifoldError as error:
        error.message = f"the recipe {choice.name}: {error.message}"
        error.args = (error.message,)
        raise


def _digest(problems: Problems, recipe: Recipe) -> str:
    """Of all that a training depends on; what a recipe is called is no part of it."""
    facts = {key: value for key, value in as_job(recipe).items() if key != "preset"}
    if recipe.model.encoder in WITHOUT_T:
        facts["model"] |= {"t": None}
    text = json.dumps([problems.digest, facts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _check_seeds(cells: Sequence[Cell]) -> None:
    """Raise where a cell that trains several models, of which one is kept, would train one of another cell's."""
    for cell in cells:
        others = [one.seed for one in cells if (one.domain, one.recipe) == (cell.domain, cell.recipe)]
        most = cell.chosen.settings.seeds if cell.chosen else 1
        if cell.seed is not None and any(other and cell.seed < other < cell.seed + most for other in others):
            raise TrifoldError(
                f"{cell} trains {most} models, from its seed on, and the next cell trains some of them again",
                remedy=f"seeds = [0, {most}, …], or one seed for each cell",
            )


def _spell(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return "inf" if value == math.inf else f"{value:g}"
    return Path(str(value)).name
