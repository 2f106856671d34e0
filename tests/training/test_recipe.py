"""Recipes: how one lies on another, what is refused, and that the shipped ones are those of the models in the box."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import trifold
from trifold.domains import DOMAINS
from trifold.errors import TrifoldError
from trifold.limits import LabelLimits
from trifold.model import ModelConfig
from trifold.selection import draw_selection
from trifold.shipped import shipped_models
from trifold.training import RECIPE_KEYS, SECTIONS, Settings, read_recipe, shipped_recipes

DOCUMENT = Path(__file__).parents[2] / "docs" / "recipes.md"


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def options(words: list[str]) -> dict[str, str]:
    """What follows each option of a command."""
    return {word: value for word, value in zip(words, [*words[1:], ""], strict=True) if word.startswith("--")}


MENDED: dict[str, Any] = {"logistics-values": {"heads": "both", "keep": 1000, "minutes": 14}}
"""What was changed where the recipe of a name, which architectures are compared by, did not solve all."""


@pytest.mark.parametrize("name", shipped_models())
def test_the_recipe_of_a_model_in_the_box_is_that_of_its_name(name: str) -> None:
    """But for what did not exist when it was trained, for the seed, which is of the model that was kept, and for the
    time that those with scores of actions had: their steps took less, of Logistics all but the last 62.
    """
    model, recipe = trifold.pretrained(name), read_recipe(name, MENDED.get(name, {}))
    assert model.config == read_recipe(name).model  # those with values alone have no scores, whatever they learned
    settings, known = recipe.settings.to_json(), model.provenance["settings"]
    free = {"seed", "minutes"} if model.config.has_actions else {"seed"}
    assert {key: settings[key] for key in known if key not in free} == {k: v for k, v in known.items() if k not in free}
    lessons = {"alone", "rounds", "ways", "taught"}
    assert settings.keys() - known.keys() <= {"balance", "clip", "recover", "keep_by", "begin"} | lessons
    assert settings["keep_by"] == known.get("keep_by", "loss") and settings["seed"] == 0 and settings["begin"] is None
    if "recipe" in model.provenance:
        assert recipe.to_json()["data"] == model.provenance["recipe"]["data"]
        return
    command = options(model.provenance["command"])
    detour = int(command["--detour"]) if "--detour" in command else None
    assert recipe.limits == LabelLimits(keep=int(command["--keep"]), detour=detour)


@pytest.mark.parametrize("name", ["blocks-m-values", "visitall-xy-values"])
def test_a_selection_draws_the_problems_that_the_model_in_the_box_was_selected_on(name: str, tmp_path: Path) -> None:
    selection = read_recipe(name).selection
    drawn = [file for file in draw_selection(selection, tmp_path).iterdir() if file.name != "domain.pddl"]
    known = trifold.pretrained(name).provenance["selection"]
    assert sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in drawn) == known["problems"]
    assert selection.max_steps == known["max_steps"]


def test_every_shipped_recipe_can_be_read_and_says_what_it_is() -> None:
    with_values = {f"{domain}-values" for domain in DOMAINS}
    assert shipped_recipes().keys() == {"paper", "fast", "small", "laptop", "blocks-m-teacher", *DOMAINS, *with_values}
    for name in shipped_recipes():
        recipe = read_recipe(name)
        assert recipe.summary and recipe.name == name and json.dumps(recipe.to_json(), allow_nan=False)
    assert read_recipe("paper").settings == Settings() and read_recipe("paper").limits == LabelLimits()


def test_no_key_is_in_two_sections_and_all_are_documented() -> None:
    assert sum(map(len, SECTIONS.values())) == len(RECIPE_KEYS)
    known = {field.name for kind in (ModelConfig, LabelLimits, Settings) for field in fields(kind)}
    assert known < RECIPE_KEYS.keys()
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [key for key in RECIPE_KEYS if f"`{key}`" not in text] == []


def test_a_recipe_lies_on_its_base_and_changes_on_it(tmp_path: Path) -> None:
    write(tmp_path, 'base = "fast"\n[model]\nlayers = 9\n[data]\nmerge = true\nkeep = inf\n[training]\nclip = 5\n')
    above = write(tmp_path, 'base = "mine.toml"\nsummary = "above"\n[training]\nclip = inf\nbatch = 8', "above.toml")
    recipe = read_recipe(above, {"training.batch": 4, "t": math.inf, "minutes": 3})
    assert (recipe.summary, recipe.model) == ("above", ModelConfig(t=math.inf, layers=9))
    assert recipe.limits == LabelLimits(keep=None)
    fast = read_recipe("fast").settings.to_json()
    assert recipe.settings.to_json() == fast | {"batch": 4, "merge": True, "minutes": 3.0, "clip": None}


def test_what_an_encoder_has_of_its_own_lies_on_its_own_layer(tmp_path: Path) -> None:
    mine = write(tmp_path, 'base = "paper"\n[model]\ndim = 48\n[model.plain]\nlayers = 5\n')
    assert read_recipe(mine).model == ModelConfig(dim=48)
    assert read_recipe(mine, {"encoder": "compositions"}).model == ModelConfig(encoder="compositions", dim=48)
    assert read_recipe(mine, {"encoder": "plain"}).model == ModelConfig(encoder="plain", dim=48, layers=5)
    assert read_recipe(mine, {"encoder": "plain", "layers": 7}).model.layers == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps = 5", "recipes have no steps(.|\n)*base, summary, \\[model\\]"),
        ("[trainig]", "recipes have no trainig"),
        ("[training]\ndim = 5", "\\[training\\] has no key 'dim'(.|\n)*one of steps, minutes"),
        ("[model.cubes]\ndim = 5", "there is no encoder 'cubes'"),
        ("[model.plain]\nsteps = 5", "\\[model\\] has no key 'steps'"),
        ("model = 5", "model is a section"),
        ("[training]\nsteps = 2.5", "steps is a whole number, not 2.5"),
        ("[training]\nsteps = true", "steps is a whole number, not True"),
        ("[training]\nsteps = inf", "steps is a whole number, not inf"),
        ("[training]\nclip = 'low'", "clip is a number, or inf for no limit, not 'low'"),
        ("[training]\nrecover = 1", "recover is true or false, not 1"),
        ("[training]\nsteps = 0", "steps must be positive"),
        ("[training]\nschedule = 'linear'", "schedule is one of constant, cosine"),
        ("[training]\nlearning_rate = nan", "learning_rate must be positive"),
        ("[training]\nalone = 1", "alone is a share from 0 to less than 1, not 1"),
        ("[training]\nways = 0", "ways must be positive"),
        ("[data]\nkeep = 0", "keep lies between 1 and"),
        ("[data]\ndead_ends = 'bury'", "dead_ends is one of keep, drop"),
        ("[selection]\nmax_steps = 5", "has a domain and sizes"),
        ("[selection]\ndomain = 'moon'\nsizes = [{balls = 3}]", "there is no domain 'moon'"),
        ("[selection]\ndomain = 'gripper'\nsizes = [{cubes = 3}]", "sizes are options of the generator of gripper"),
        ("[selection]\ndomain = 'gripper'\nsizes = [{balls = 'three'}]", "sizes are options of the generator"),
        ("base = 'fsat'", "there is no recipe 'fsat'(.|\n)*did you mean fast\\?"),
        ("base = 'mine.toml'", "builds on itself"),
        ("base = 5", "base is a text, not 5"),
        ("[training", "this is no TOML"),
        ("x = " + "[" * 5000, "this is no TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_name_and_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TrifoldError, match=message) as caught:
        read_recipe(write(tmp_path, text))
    assert caught.value.place == str(tmp_path / "mine.toml")


@pytest.mark.parametrize("key", ["zeal", "training.zeal", "model.", ""])
def test_a_key_that_is_none_lists_those_that_are(key: str) -> None:
    with pytest.raises(TrifoldError, match=r"recipes have no key(.|\n)*model: encoder, t, dim"):
        read_recipe("small", {key: 5})


@pytest.mark.parametrize("key", ["dims", "training.dim", ".dim", "a.model.dim", "model.dimm"])
def test_a_key_that_is_nearly_one_is_told_which(key: str) -> None:
    with pytest.raises(TrifoldError, match=r"recipes have no key .*\n  try: did you mean dim\?"):
        read_recipe("small", {key: 5})


def test_a_recipe_can_be_given_as_it_is_and_changed() -> None:
    for name in shipped_recipes():
        recipe = read_recipe(name)
        assert read_recipe(recipe) == recipe and read_recipe(recipe, {"seed": recipe.settings.seed}) == recipe
    changed = read_recipe(read_recipe("small"), {"t": math.inf, "keep": 10, "steps": 7})
    assert changed == read_recipe("small", {"t": math.inf, "keep": 10, "steps": 7})
    with pytest.raises(TrifoldError, match="steps is a whole number"):
        read_recipe(changed, {"steps": "many"})
