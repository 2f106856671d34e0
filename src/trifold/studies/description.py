"""What a study is: domains, recipes, a grid of settings, seeds and test sets, read from a TOML file and checked.

    summary = "does t matter?"
    domains = ["gripper", "delivery/"]     # of the suite by name, or folders beside this file
    recipes = ["small"]                    # or a table, with changes
    seeds = 3
    [grid]
    t = [0, 1, 2]
    [evaluation]
    timeout = 60

``docs/study.md`` has all keys. Paths are relative to the folder of the file, and may have ``{domain}``,
which is the name of each domain.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trifold.domains import DOMAINS
from trifold.errors import TrifoldError, did_you_mean
from trifold.files import read_text
from trifold.limits import MAX_STEPS
from trifold.planning import find_policy
from trifold.studies.tables import Table, named
from trifold.training import RECIPE_KEYS, Value

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
"""What the names of domains, recipes and test sets look like: they are names of folders."""

BEST = "best"
"""The policy of a model that is the best that it has."""

EACH = "{domain}"
"""Stands for the name of the domain."""


@dataclass(frozen=True)
class DomainChoice:
    """A domain: a folder, or None for the problems of the suite; and policies of its own, if it has some."""

    name: str
    folder: Path | None
    policies: tuple[str | None, ...] | None = None


@dataclass(frozen=True)
class RecipeChoice:
    """A recipe by its name or its file, in which ``{domain}`` may stand, its changes, and a grid of its own."""

    name: str
    base: str
    changes: dict[str, Value] = field(default_factory=dict)
    grid: dict[str, tuple[Value, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class TestSet:
    """Problems that policies are tried on: in a folder, or of the suite's test sizes, drawn with a seed.

    folder    inside the folder of each domain, or a path with ``{domain}``
    optional  whether a domain may have none
    """

    name: str
    folder: str | None = None
    seed: int | None = None
    optional: bool = False


@dataclass(frozen=True)
class Evaluation:
    """How models are tried: by each policy with each search. None of policies is the best that a model has."""

    policies: tuple[str | None, ...] = (None,)
    searches: tuple[str | None, ...] = (None,)
    max_steps: int = MAX_STEPS
    max_states: int | None = None
    improve: float | None = None
    timeout: float | None = None
    memory_gib: float | None = None
    device: str = "auto"


@dataclass(frozen=True)
class Machines:
    """What trainings run on.

    device    of each training
    gpus      the share of a GPU that a training takes: with 0.5 two share one; cores alone where there is none
    patience  minutes after which a stage of a cell is given up
    """

    device: str = "auto"
    gpus: float = 1.0
    patience: float | None = None


@dataclass(frozen=True)
class Description:
    """A study.

     place    the folder that paths are relative to
    forced   changes that are stronger than those of recipes
    models   models that are not trained but evaluated beside the others: files, run folders or names of shipped ones
    """

    name: str
    place: Path
    summary: str
    domains: tuple[DomainChoice, ...]
    recipes: tuple[RecipeChoice, ...]
    settings: dict[str, Value]
    grid: dict[str, tuple[Value, ...]]
    seeds: tuple[int, ...]
    models: dict[str, str]
    tests: tuple[TestSet, ...]
    evaluation: Evaluation
    machines: Machines
    forced: dict[str, Value] = field(default_factory=dict)


def read_study(source: Path | str | Mapping[str, Any]) -> Description:
    """Read a study from its file, or from what such a file says; whatever is wrong with it is said with its key.

    >>> study = read_study({"domains": ["gripper"], "recipes": ["small"], "grid": {"t": [0, 1]}, "seeds": 2})
    >>> study.seeds, study.grid, study.tests[0].name
    ((0, 1), {'t': (0, 1)}, 'test')
    """
    if isinstance(source, Mapping):
        return _describe(dict(source), "study", Path())
    path = Path(source)
    try:
        content = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TrifoldError(f"this is no TOML: {error}", place=str(path), remedy="mend it there") from None
    try:
        return _describe(content, path.stem, path.parent)
    except TrifoldError as error:
        error.place = f"{path}: {error.place}" if error.place else str(path)
        raise


def _describe(content: dict[str, Any], name: str, place: Path) -> Description:
    table = Table(content)
    study = Description(
        name,
        place,
        summary=table.take("summary", str, default=""),
        domains=tuple(
            _read_domain(name, value, place)
            for name, value in named(table.take("domains", list, dict, default=[]), "domains").items()
        ),
        recipes=tuple(
            _read_recipe(name, value)
            for name, value in named(table.take("recipes", list, dict, default=[]), "recipes").items()
        ),
        settings=_read_settings(table.take("settings", dict, default={}), "[settings]"),
        grid=_read_grid(table.take("grid", dict, default={}), "[grid]"),
        seeds=_read_seeds(table.take("seeds", int, list, default=1)),
        models=_read_models(table.take("models", list, dict, default=[])),
        tests=tuple(
            _read_tests(name, value)
            for name, value in named(table.take("tests", list, dict, default=["test"]), "tests").items()
        ),
        evaluation=_read_evaluation(Table(table.take("evaluation", dict, default={}), "[evaluation]")),
        machines=_read_machines(Table(table.take("run", dict, default={}), "[run]")),
    )
    table.close()
    if not study.domains:
        raise TrifoldError("the study has no domains", remedy='such as domains = ["gripper"], or a folder of problems')
    if not study.recipes and not study.models:
        raise TrifoldError("the study has no recipes", remedy='such as recipes = ["small"]; trifold train --help')
    for kind in ("domains", "recipes", "tests"):
        names = [one.name for one in getattr(study, kind)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise TrifoldError(f"two {kind} are called {twice[0]}", remedy=f"name them: [{kind}] NAME = …")
    return study


def _read_domain(name: str, value: object, place: Path) -> DomainChoice:
    """A domain of the suite by its name, or a folder; in a list a folder is named after itself."""
    policies: tuple[str | None, ...] | None = None
    text = value
    if isinstance(value, Mapping):
        table = Table(value, f"[domains.{name}]")
        text, given = table.take("folder", str, default=name), table.texts("policies")
        policies = None if given is None else _policies(given)
        table.close()
    if not isinstance(text, str):
        raise TrifoldError(
            f"{name} of [domains] is a folder, the name of a domain of the suite, or a table, not {value!r:.60}"
        )
    given = DOMAINS.get(text)
    if given and given.suite:
        return DomainChoice(_check_name(name, "domain"), None, policies) if name == text else _refuse_alias(name, text)
    folder = place / text
    if not folder.is_dir():
        known = [domain.name for domain in DOMAINS.values() if domain.suite]
        raise TrifoldError(
            f"{text!r} of domains is neither a domain of the suite nor a folder",
            place=str(folder),
            remedy=did_you_mean(text, known),
        )
    return DomainChoice(_check_name(folder.resolve().name if name == text else name, "domain"), folder, policies)


def _refuse_alias(name: str, text: str) -> DomainChoice:
    raise TrifoldError(
        f"{text} is a domain of the suite, and has its own name, not {name}", remedy=f"{text} = {{}}, or a folder"
    )


def _read_recipe(name: str, value: object) -> RecipeChoice:
    if isinstance(value, str):
        return RecipeChoice(_check_name(_short(name, value).replace(EACH, "").strip("-"), "recipe"), value)
    table = Table(value, f"[recipes.{name}]")
    base = table.take("base", str, default=name)
    grid = _read_grid(table.take("grid", dict, default={}), f"[recipes.{name}.grid]")
    return RecipeChoice(_check_name(name, "recipe"), base, _read_settings(table.values, table.name), grid)


def _read_settings(values: Mapping[str, Any], name: str) -> dict[str, Value]:
    """Changes of recipes, by their keys; what a value may be is seen when the recipe is built."""
    for key in values:
        if key == "seed":
            raise TrifoldError(f"{name} has no seed", remedy="seeds of the study says with which seeds all is trained")
        if key not in RECIPE_KEYS and key.partition(".")[2] not in RECIPE_KEYS:
            raise TrifoldError(f"{name}: recipes have no key {key!r}", remedy=did_you_mean(key, list(RECIPE_KEYS)))
    return dict(values)


def _read_grid(values: Mapping[str, Any], name: str) -> dict[str, tuple[Value, ...]]:
    for key, choices in _read_settings(values, name).items():
        if not isinstance(choices, list) or not choices or any(isinstance(one, (list, dict)) for one in choices):
            raise TrifoldError(f"{key} of {name} is a list of values, not {choices!r:.60}", remedy=f"{key} = [0, 1]")
        if any(choices.count(one) > 1 for one in choices):
            raise TrifoldError(f"{key} of {name} has a value twice", remedy="name each once")
    return {key: tuple(choices) for key, choices in values.items()}


def _read_seeds(value: int | list[Any]) -> tuple[int, ...]:
    seeds = list(range(value)) if isinstance(value, int) else value
    if not seeds or not all(type(seed) is int and seed >= 0 for seed in seeds) or len(set(seeds)) < len(seeds):
        raise TrifoldError(
            f"seeds is how many there are, or a list of them, each once, not {value!r:.60}", remedy="such as seeds = 3"
        )
    return tuple(seeds)


def _read_models(values: object) -> dict[str, str]:
    models = named(values, "models")
    for name, value in models.items():
        if not isinstance(value, str):
            raise TrifoldError(f"{name} of [models] is a file, a run folder or the name of a shipped model")
        _check_name(_short(name, value).replace(EACH, "domain"), "model")
    return {_short(name, value): value for name, value in models.items()}


def _read_tests(name: str, value: object) -> TestSet:
    _check_name(name, "test set")
    if isinstance(value, str):
        return TestSet(name, folder=value)
    table = Table(value, f"[tests.{name}]")
    folder, seed = table.take("folder", str), table.number("seed", int, 0)
    found = TestSet(name, folder, seed, table.take("optional", bool, default=False))
    table.close()
    if (folder is None) == (seed is None):
        raise TrifoldError(
            f"[tests.{name}] has a folder or a seed", remedy='folder = "test", or seed = 7 for fresh problems'
        )
    return found


def _read_evaluation(table: Table) -> Evaluation:
    policies, searches = table.texts("policies", (BEST,)), table.texts("searches", ("none",))
    found = Evaluation(
        _policies(policies),
        tuple(None if search == "none" else search for search in searches) or (None,),
        max_steps=table.number("max_steps", int, 0, MAX_STEPS),
        max_states=table.number("max_states", int, 1),
        improve=table.number("improve", float, 0),
        timeout=table.number("timeout", float, 0),
        memory_gib=table.number("memory", float, 0),
        device=table.take("device", str, default="auto"),
    )
    table.close()
    _check_policies(found.searches)
    return found


def _read_machines(table: Table) -> Machines:
    found = Machines(
        device=table.take("device", str, default="auto"),
        gpus=table.number("gpus", float, 0, 1.0),
        patience=table.number("patience", float, 0),
    )
    table.close()
    return found


def _short(name: str, value: str) -> str:
    """What is called so, or a path that was listed as by its last name."""
    return Path(name).stem if name == value else name


def _policies(names: tuple[str, ...]) -> tuple[str | None, ...]:
    """Policies by their names; none is no way to act, so that it is the best that a model has."""
    found = tuple(None if name == BEST else name for name in names) or (None,)
    _check_policies(found)
    return found


def _check_policies(names: Iterable[str | None]) -> None:
    for name in names:
        if name is not None:
            find_policy(name)


def _check_name(name: str, kind: str) -> str:
    if not NAME.fullmatch(name):
        raise TrifoldError(
            f"{name!r} cannot be the name of a {kind}: folders are called so",
            remedy="use letters, digits, '.', '_', '+' and '-'",
        )
    return name
