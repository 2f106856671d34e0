"""What a run folder says of its training, in the words of a report."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from trifold.data import Extent
from trifold.errors import TrifoldError
from trifold.model import open_checkpoint
from trifold.pages import Facts, Labelled, Seed, Training
from trifold.sealed import fill
from trifold.training import RunFolder, recorded_recipe
from trifold.words import counted

SPLITS = {
    "given": "the folder has a validation/ of its own",
    "held out": "families of problems that share no state with those trained on are held out",
    "shared": "all problems are of one family, so all serve for both",
}
"""What the rules of `trifold.data.split` mean."""


def read_training(path: Path) -> Training:
    """The training of a run folder, whether it has ended or not."""
    folder = RunFolder(path)
    with folder.opened("config.json") as config:
        if "rungs" in config:
            raise TrifoldError(
                "this is the folder of a ladder, whose rungs are trainings",
                place=str(path),
                remedy="give the folders of its rungs, which are in it",
            )
        recipe, command = recorded_recipe(config), shlex.join(["trifold", *config["command"][1:]])
        directory, device = str(config["directory"]), str(config["device"])
    with folder.opened("data.json") as data:
        facts, sizes, problems, digest = _data_facts(data), _sizes(data), _problems(data), str(data["hash"])
        held_out = counted(data["validation_problems"], "problem")
        summary = f"{recipe.model.label} by the recipe {recipe.name}, {counted(data['problems'], 'problem')} of "
        summary += f"{counted(data['states'], 'state')}; validated on {held_out}"
    with folder.opened("environment.json") as environment:
        origin = _origin(
            environment, folder, {"Command": command, "Problems of": directory, "Their hash": digest, "Device": device}
        )
    kept = _provenance(folder).get("settings", {}).get("seed")
    found = sorted(path.glob("seed-*"), key=lambda file: (len(file.name), file.name))
    seeds = [folder.seed(int(file.name[5:])) for file in found if file.name[5:].isdecimal()]
    return Training(
        path.resolve().name,
        summary,
        facts,
        sizes,
        _recipe_facts(recipe.to_json(), recipe.model.label),
        origin,
        problems,
        tuple(Seed(one.path.name, one.path.name == f"seed-{kept}", tuple(one.metrics())) for one in seeds),
    )


def _data_facts(data: dict[str, Any]) -> Facts:
    left_out = sum(file["role"] == "left out" for file in data["files"])
    roles = f"{data['problems']:,} trained on, {data['validation_problems']:,} validated on"
    rule = data["split"]["rule"]
    merged = f"; {data['inputs']:,} after merging" if data["inputs"] != data["states"] else ""
    dead = f", learned as V* = {data['dead_end_target']:g}" if data["dead_ends"] and data["dead_end_target"] else ""
    facts = {
        "Problems": roles + (f", {left_out:,} left out" if left_out else ""),
        "Split": SPLITS.get(rule, str(rule)),
        "States": f"{data['states']:,} to train on{merged}, {data['validation_states']:,} to validate on",
        "Largest V*": f"{data['largest_value']:,}",
        "Dead ends": f"{data['dead_ends']:,}{dead}",
        "Most objects": f"{data['objects']:,}",
    }
    if "extent" in data:
        extent = Extent.from_json(data["extent"])
        kinds = [f"{name} {_span(*span)}" for name, span in extent.kinds.items()]
        goals = [f"{name.partition('@')[0]}{' (not)' if name.endswith('-not') else ''}" for name in extent.goals]
        facts |= {"Objects of a kind": ", ".join(kinds) or "no kinds", "Goals over": ", ".join(goals) or "nothing"}
    return tuple(facts.items())


def _span(fewest: int, most: int) -> str:
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _sizes(data: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    return Extent.from_json(data["extent"]).sizes if "extent" in data else ()


def _problems(data: dict[str, Any]) -> tuple[Labelled, ...]:
    names = [field.name for field in fields(Labelled)]
    return tuple(fill(Labelled, {name: file[name] for name in names}) for file in data["files"])


def _recipe_facts(recipe: dict[str, Any], label: str) -> tuple[tuple[str, Facts], ...]:
    sections = [(name, values) for name, values in recipe.items() if isinstance(values, dict)]
    about: Facts = (("recipe", str(recipe["name"])), ("architecture", label))
    return (
        ("name", about),
        *((name, tuple((key, _spelt(value)) for key, value in values.items())) for name, values in sections),
    )


def _spelt(value: Any) -> str:
    match value:
        case None:
            return "no limit"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case list():
            return "; ".join(
                ", ".join(f"{name} {_spelt(own)}" for name, own in one.items()) if isinstance(one, dict) else str(one)
                for one in value
            )
    return str(value)


def _origin(environment: dict[str, Any], folder: RunFolder, facts: dict[str, str]) -> Facts:
    versions = environment.get("versions", {})
    device = environment.get("device", "")
    hardware = environment.get("processor") if device in ("cpu", "") else device
    facts["Versions"] = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    facts["Hardware"] = f"{hardware}, {environment.get('cores')} cores" if hardware else ""
    training = _provenance(folder).get("training") or {}
    if isinstance(seconds := training.get("seconds"), list):
        told = ", ".join(f"{second:,.0f} s" for second in seconds)
        facts["Time of each seed" if len(seconds) > 1 else "Time"] = told
    facts["Model"] = folder.model.name if folder.model.exists() else "none yet: the training has not ended"
    return tuple((name, text) for name, text in facts.items() if text)


def _provenance(folder: RunFolder) -> dict[str, Any]:
    """What the run's model says of its training; nothing where there is none yet."""
    if not folder.model.exists():
        return {}
    with open_checkpoint(folder.model, "model") as file:
        provenance: dict[str, Any] = file.header["provenance"]
    return provenance
