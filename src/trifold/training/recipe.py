"""Recipes: what a training is, as data in a TOML file. Those in the folder ``recipes`` are known by their names.

    base = "fast"                  # the recipe that it builds on: a name, or a file beside this one
    summary = "what it is for"
    [model]                        # keys of ``ModelConfig``
    layers = 20
    [model.compositions]           # what is different for one encoder
    dim = 32
    [data]                         # keys of ``LabelLimits``, and dead_ends and merge of ``Settings``
    keep = 10_000
    [training]                     # the other keys of ``Settings``
    steps = 5_000
    [selection]                    # keys of ``Selection``
    domain = "gripper"
    sizes = [{balls = 18}, {balls = 22}]

What neither it nor its base says is the paper's. A limit of ``inf`` is none. No key is in two sections, so that a
change needs no section: ``{"dim": 32}`` is ``{"model.dim": 32}``.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from trifold.data import LabelLimits
from trifold.domains import DOMAINS, Options
from trifold.errors import TrifoldError, did_you_mean
from trifold.files import read_text
from trifold.limits import MAX_STEPS
from trifold.model import ModelConfig
from trifold.sealed import fill
from trifold.training.settings import Settings

FOLDER = Path(__file__).parent / "recipes"
SUFFIX = ".toml"
OF_DATA = ("dead_ends", "merge")
"""Settings that are about data."""
WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", list: "a list"}

Value = int | float | str | bool | list[Options]
Layer = dict[str, dict[str, Any]]
"""The sections of one file, or of some changes, with what they say."""


@dataclass(frozen=True)
class Selection:
    """The problems on which the best of several seeds is selected: larger than those of training, and no test problem.

    domain          whose generator draws them
    sizes           options of the generator, each for two problems
    generator_seed  a seed that no test has
    max_steps       after which a policy gives up
    """

    domain: str
    sizes: list[Options]
    generator_seed: int = 4242
    max_steps: int = MAX_STEPS

    def __post_init__(self) -> None:
        if self.domain not in DOMAINS:
            raise TrifoldError(f"there is no domain {self.domain!r}", remedy=f"one of {', '.join(DOMAINS)}")
        known = {name: option.annotation for name, option in DOMAINS[self.domain].options.items()}
        for size in self.sizes:
            if not isinstance(size, dict) or not all(_fits(value, known.get(name)) for name, value in size.items()):
                raise TrifoldError(
                    f"sizes are options of the generator of {self.domain}, not {size!r:.60}",
                    remedy=f"a list of tables with {', '.join(known)}",
                )
        if not self.sizes or self.generator_seed < 0 or self.max_steps < 0:
            raise TrifoldError("a selection has sizes, and its generator_seed and max_steps are not negative")


@dataclass(frozen=True)
class Recipe:
    """All that a training is, but for the problems and the machine."""

    name: str
    summary: str
    model: ModelConfig
    limits: LabelLimits
    settings: Settings
    selection: Selection | None

    def sections(self) -> Layer:
        """Its sections, whole: nothing is left to the base or to defaults."""
        settings = asdict(self.settings)
        data = asdict(self.limits) | {name: settings.pop(name) for name in OF_DATA}
        selection = asdict(self.selection) if self.selection else {}
        return {"model": asdict(self.model), "data": data, "training": settings, "selection": selection}

    def to_json(self) -> dict[str, Any]:
        """Its name, summary and sections as JSON."""
        about = {"name": self.name, "summary": self.summary, **self.sections()}
        return about | {"model": self.model.to_json(), "selection": about["selection"] or None}


def default_recipe(device: str) -> str:
    """The recipe where none is asked for: the paper's takes days of a CPU, and hours of a GPU.

    >>> default_recipe("cuda:1"), default_recipe("cpu")
    ('fast', 'laptop')
    """
    return "fast" if device.startswith("cuda") else "laptop"


def read_recipe(source: Recipe | Path | str, changes: Mapping[str, Value] | None = None) -> Recipe:
    """Read a recipe by its name or its file, or take one as it is, and change some of its values.

    >>> recipe = read_recipe("small", {"steps": 2, "model.t": math.inf})
    >>> recipe.settings.steps, recipe.settings.batch, recipe.model.label
    (2, 32, 'R-GNN[∞]')
    >>> read_recipe("fast", {"encoder": "compositions"}).model.dim
    32
    """
    if isinstance(source, Recipe):
        recipe, layers = source, [source.sections()]
    else:
        path = _find(source)
        layers, summary = _read_layers(path)
        with _about(path):
            recipe = _build(str(source), summary, layers)
    if not changes:
        return recipe
    change: Layer = {}
    for key, value in changes.items():
        section, name = find_key(key)
        change.setdefault(section, {})[name] = _check(name, value, RECIPE_KEYS[name])
    return _build(recipe.name, recipe.summary, [*layers, change])


def recorded_recipe(content: Mapping[str, Any]) -> Recipe:
    """The recipe of a run, from its config.json; runs from before there were recipes have no selection."""
    selection = content.get("selection")
    return Recipe(
        content["preset"],
        "",
        ModelConfig.from_json(content["model"]),
        fill(LabelLimits, content["limits"]),
        Settings.from_json(content["settings"]),
        None if selection is None else Selection(**_read_section("selection", selection)),
    )


def shipped_recipes() -> dict[str, Path]:
    """The file of each shipped recipe, by its name."""
    return {file.stem: file for file in sorted(FOLDER.glob(f"*{SUFFIX}"))}


def find_key(text: str) -> tuple[str, str]:
    """The section and the name of a key, with or without its section; an error lists all keys.

    >>> find_key("dim"), find_key("training.steps")
    (('model', 'dim'), ('training', 'steps'))
    """
    for section, kinds in SECTIONS.items():
        if (name := text.removeprefix(f"{section}.")) in kinds:
            return section, name
    keys = "; ".join(f"{section}: {', '.join(kinds)}" for section, kinds in SECTIONS.items())
    known = [name for kinds in SECTIONS.values() for name in kinds]
    remedy = did_you_mean(text.rpartition(".")[2], known, f"one of these: {keys}")
    raise TrifoldError(f"recipes have no key {text!r}", remedy=remedy)


def _fits(value: object, annotation: Any) -> bool:
    """Whether a value is one of a generator's option: of a type, or one of the words of a Literal."""
    return value in words if (words := get_args(annotation)) else type(value) is annotation


def _kinds(dataclass: type) -> dict[str, tuple[type, ...]]:
    """The types that each field of a dataclass may have."""
    return {
        name: tuple(get_origin(kind) or kind for kind in (get_args(hint) if isinstance(hint, UnionType) else [hint]))
        for name, hint in get_type_hints(dataclass).items()
    }


_SETTINGS = _kinds(Settings)
SECTIONS = {
    "model": _kinds(ModelConfig),
    "data": _kinds(LabelLimits) | {name: _SETTINGS.pop(name) for name in OF_DATA},
    "training": _SETTINGS,
    "selection": _kinds(Selection),
}
"""The keys of each section, and their types."""
RECIPE_KEYS = {key: kinds for section in SECTIONS.values() for key, kinds in section.items()}


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """What is wrong is wrong in this file."""
    try:
        yield
    except TrifoldError as error:
        error.place = str(path)
        raise


def _find(source: Path | str) -> Path:
    known = shipped_recipes()
    if Path(source).suffix == SUFFIX:
        return Path(source)
    if str(source) not in known:
        remedy = did_you_mean(str(source), known, f"one of {', '.join(known)}, or a file *{SUFFIX}")
        raise TrifoldError(f"there is no recipe {str(source)!r}", remedy=remedy)
    return known[str(source)]


def _read_layers(path: Path, above: tuple[Path, ...] = ()) -> tuple[list[Layer], str]:
    """What a recipe says, after what its base says, and its summary."""
    if path.resolve() in above:
        raise TrifoldError("this recipe builds on itself", place=str(path), remedy="give it another base, or none")
    with _about(path):
        try:
            content = tomllib.loads(read_text(path))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise TrifoldError(f"this is no TOML: {error}", remedy="mend it there") from None
        base, summary = (_check(name, content.pop(name, ""), (str,)) for name in ("base", "summary"))
        if unknown := sorted(content.keys() - SECTIONS.keys()):
            raise TrifoldError(f"recipes have no {unknown[0]}", remedy=f"base, summary, [{'], ['.join(SECTIONS)}]")
        layer = {section: _read_section(section, values) for section, values in content.items()}
        below = _find(path.parent / base if base.endswith(SUFFIX) else base) if base else None
    return ([*_read_layers(below, (*above, path.resolve()))[0], layer] if below else [layer]), summary


def _read_section(section: str, values: object) -> dict[str, Any]:
    """The checked values of a section; in [model], a table for each encoder that has some of its own."""
    if not isinstance(values, dict):
        raise TrifoldError(f"{section} is a section", remedy=f"write [{section}], and its keys below it")
    own = {name: value for name, value in values.items() if section == "model" and isinstance(value, dict)}
    for encoder, differences in own.items():
        ModelConfig(encoder=encoder)  # or it raises
        own[encoder] = _check_keys(section, differences)
    return own | _check_keys(section, {name: value for name, value in values.items() if name not in own})


def _check_keys(section: str, values: Mapping[str, object]) -> dict[str, Any]:
    known = SECTIONS[section]
    if unknown := sorted(values.keys() - known.keys()):
        raise TrifoldError(f"[{section}] has no key {unknown[0]!r}", remedy=did_you_mean(unknown[0], known))
    return {name: _check(name, value, known[name]) for name, value in values.items()}


def _check(name: str, value: object, kinds: tuple[type, ...]) -> Any:
    """The value as a key of these types has it; one of another type is refused."""
    if NoneType in kinds and value in (None, math.inf):
        return None
    if type(value) is int and float in kinds and abs(value) < 2**63:
        return float(value)
    if type(value) not in kinds or (type(value) is int and abs(value) >= 2**63):
        wanted = " or ".join(WORDS[kind] for kind in kinds if kind is not NoneType)
        no_limit = ", or inf for no limit" if NoneType in kinds else ""
        raise TrifoldError(f"{name} is {wanted}{no_limit}, not {value!r:.60}")
    return value


def _build(name: str, summary: str, layers: list[Layer]) -> Recipe:
    """Put layers on each other, and build what they say."""
    encoder = ModelConfig.encoder
    for layer in layers:
        encoder = layer.get("model", {}).get("encoder", encoder)
    values: Layer = {section: {} for section in SECTIONS}
    for layer in layers:
        for section, own in layer.items():
            values[section] |= {key: value for key, value in own.items() if key in SECTIONS[section]}
            values[section] |= own.get(encoder, {}) if section == "model" else {}
    data = values["data"]
    settings = values["training"] | {key: data.pop(key) for key in OF_DATA if key in data}
    selection = values["selection"]
    if selection and not selection.keys() >= {"domain", "sizes"}:
        raise TrifoldError("a [selection] has a domain and sizes", remedy="add what is missing")
    return Recipe(
        name,
        summary,
        ModelConfig(**values["model"]),
        LabelLimits(**data),
        Settings(**settings),
        Selection(**selection) if selection else None,
    )
