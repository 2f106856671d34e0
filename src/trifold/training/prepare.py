"""Preparing a training: problems are labelled, split and encoded, and what came of them is described."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifold.data import (
    HELD_OUT,
    Dataset,
    Extent,
    Labelled,
    LabelLimits,
    Split,
    dead_end_target,
    default_cache,
    label,
    read_folder,
    recorded_split,
    split,
)
from trifold.errors import TrifoldError
from trifold.files import read_text
from trifold.model import Model, ModelConfig
from trifold.nn import Backend, choose_backend
from trifold.pddl import load_domain
from trifold.processes import Workers
from trifold.provenance import describe_environment
from trifold.structures import CONSTANT
from trifold.training.beginning import Beginning
from trifold.training.coverage import Track, lay_tracks
from trifold.training.larger import LargerProblems, find_larger
from trifold.training.lessons import Teacher
from trifold.training.loop import SeedTraining, validation_sample
from trifold.training.merge import merge_states
from trifold.training.orders import Prepare
from trifold.training.parallel import ALONE, Ranks
from trifold.training.recipe import recorded_recipe
from trifold.training.run import RunFolder
from trifold.training.settings import Settings
from trifold.training.step import training_name
from trifold.training.watcher import Watcher


@dataclass(frozen=True)
class Prepared:
    """All that the trainings of a run share.

    training, validation  the encoded states
    first                 an untrained model, whose seed is of no account: what it is computed by holds for all
    provenance            what each model says of its training, but for the seed
    tracks                held-out problems that policies are followed on while they train
    larger                problems that could not be labelled whole: policies are tried on them, if they are given
    teacher               who says what is good where the policy goes, if there is one
    beginning             whose weights it begins with, if not with random ones
    """

    folder: RunFolder
    config: ModelConfig
    settings: Settings
    domain_text: str
    domain: str
    training: Dataset
    validation: Dataset
    first: Model
    provenance: dict[str, Any]
    tracks: list[Track]
    larger: LargerProblems | None
    ranks: Ranks = ALONE
    teacher: Teacher | None = None
    beginning: Beginning | None = None

    @property
    def backend(self) -> Backend:
        """Who computes the network in this run."""
        return self.first.backend

    @property
    def seeds(self) -> range:
        """The seeds to train."""
        return range(self.settings.seed, self.settings.seed + self.settings.seeds)

    def held_out(self) -> Dataset:
        """The validation states that are looked at, over objects: as they are before they are encoded."""
        sample = validation_sample(self.validation, self.settings)
        return self.validation.keep(sample, self.validation.weights[sample.to(self.validation.weights.device)])

    def start(self, seed: int) -> SeedTraining:
        """The training of one seed, from where its folder stands."""
        model = begin_model(self.first, seed)
        if self.beginning is not None:
            self.beginning.give(model)
        model.provenance = self.provenance | {"settings": self.settings.to_json() | {"seed": seed}}
        folder = self.folder.seed(seed)
        data = model, self.training, self.validation, self.settings, seed, folder
        return SeedTraining(*data, self.tracks, self.larger, self.ranks, self.teacher)


def prepare(
    folder: RunFolder,
    content: dict[str, Any],
    workers: Workers | None,
    cache: Path | None,
    watcher: Watcher,
    ranks: Ranks = ALONE,
) -> Prepared:
    """Label, split and encode the problems of a run's config, and write what came of them to its folder."""
    config, settings = ModelConfig.from_json(content["model"]), Settings.from_json(content["settings"])
    _check_ranks(ranks, settings, content)
    ranks.use(content["device"])
    files = read_folder(Path(content["directory"]))
    described = load_domain(files.domain)
    teacher, beginning = Teacher.read(content, described), Beginning.read(settings.begin, described, config)
    domain_text, problems = read_text(files.domain), [*files.training, *files.validation]
    watcher.labelling(len(problems))
    labelled = label_problems(files.domain, problems, content, workers, cache, watcher.labelled)
    parts = _read_split(folder, labelled) or split(labelled, len(files.training), settings.seed)
    ranks.tell(Prepare.of(content, labelled, parts))
    ranks.connect(content["device"])
    held_out = [item.space for item in parts.validation if item.space is not None]
    data, first, target = encode(content, parts, domain_text, watcher.encoding)
    device = content["device"]
    # Of the validation states a sample is encoded later.
    options: dict[str, Any] = {"dead_end_target": target, "with_actions": config.has_actions, "device": device}
    validation = Dataset.build(held_out, config.build_encoder(), **options, max_gib=0)
    summary = describe_data(domain_text, labelled, parts, target, data, validation)
    if teacher is not None:
        given = len(files.training)
        teacher = teacher.practising(labelled[:given], labelled[given:], parts)
        summary["lessons"] = teacher.to_json()
    if beginning is not None:
        summary["begin"] = beginning.to_json()
    _check_unchanged(folder, summary, content["directory"])

    summary["backend"] = training_name(first.backend)
    environment = describe_environment(device, ranks.count)
    for name, facts in {"config": content, "data": summary, "environment": environment}.items():
        folder.write(f"{name}.json", facts)
    watcher.prepared(summary)
    told = ("hash", "problems", "states", "dead_ends", "largest_value", "objects", "extent")
    provenance = {
        "preset": content["preset"],
        "recipe": recorded_recipe(content).to_json(),
        "command": content["command"],
        "data": {name: summary[name] for name in told} | {"split": describe_split(parts)},
        "environment": environment,
        "backend": summary["backend"],
        **({} if beginning is None else {"begin": beginning.to_json()}),
    }
    domain = next(item.space.domain for item in parts.training if item.space is not None)
    tracks = lay_tracks(parts.validation, config.has_actions)
    practised = {problem.resolve() for problem in teacher.problems} if teacher else set()
    found = find_larger([item for item in labelled if item.path.resolve() not in practised], parts.validation)
    memory = LabelLimits(**content["limits"]).memory_gib
    here = workers if isinstance(workers, int) else None  # a cluster would be asked by several seeds at once
    larger = LargerProblems(files.domain, found, device, here, memory) if found else None
    common = config, settings, domain_text, domain, data, validation, first, provenance
    return Prepared(folder, *common, tracks, larger, ranks, teacher, beginning)


def _check_ranks(ranks: Ranks, settings: Settings, content: dict[str, Any]) -> None:
    """Raise unless so many processes can do this training."""
    if settings.batch < ranks.count:
        raise TrifoldError(
            f"{ranks.count} processes cannot share a batch of {settings.batch}",
            remedy="use fewer processes, or a larger batch, such as --set batch=64",
        )
    if content.get("teacher") is not None and not ranks.is_alone:
        raise TrifoldError(
            f"a pupil has a teacher in one process, and not in {ranks.count}",
            remedy="leave out torchrun, or --teacher",
        )


def label_problems(
    domain: Path,
    problems: Sequence[Path],
    content: dict[str, Any],
    workers: Workers | None,
    cache: Path | None,
    on_progress: Callable[[Labelled], None] | None = None,
) -> list[Labelled]:
    """Label problems within the limits of a run's config."""
    limits = LabelLimits(**content["limits"])
    where = cache or default_cache()
    return label(domain, problems, limits=limits, workers=workers, cache=where, on_progress=on_progress)


def encode(
    content: dict[str, Any], parts: Split, domain_text: str, on_progress: Callable[[int, int], None] | None = None
) -> tuple[Dataset, Model, float | None]:
    """The encoded states to learn from, an untrained model that reads them, and the target of dead ends."""
    config, settings = ModelConfig.from_json(content["model"]), Settings.from_json(content["settings"])
    spaces = [item.space for item in parts.training if item.space is not None]
    target, device = dead_end_target(spaces, settings.dead_ends), content["device"]
    options: dict[str, Any] = {"dead_end_target": target, "with_actions": config.has_actions, "device": device}
    options["keep_plain"] = content.get("teacher") is not None
    data = Dataset.build(spaces, config.build_encoder(), **options, on_progress=on_progress)
    if settings.merge:
        data = merge_states(data, config)
    signature, schemas = spaces[0].table.signature, spaces[0].actions.schemas if config.has_actions else ()
    first = Model.fresh(config, signature, domain_text, data.atom_counts, settings.seed, schemas).to(device)
    first.backend = choose_backend(first.network.embed, first.device, settings.kernels)
    return data, first, target


def begin_model(first: Model, seed: int) -> Model:
    """Another untrained model like the first one, from a seed."""
    facts = first.config, first.signature, first.domain_text, first.training_atoms
    model = Model.fresh(*facts, seed, first.schemas).to(first.device)
    model.backend = first.backend
    return model


def _read_split(folder: RunFolder, labelled: Sequence[Labelled]) -> Split | None:
    """The split that the run began with, or None if it did not begin."""
    if not (folder.path / "data.json").exists():
        return None
    with folder.opened("data.json") as recorded:
        if [file["file"] for file in recorded["files"]] != [item.path.name for item in labelled]:
            raise _changed(str(labelled[0].path.parent))
        roles = [file["role"] for file in recorded["files"]]
        if lost := [
            f"{item.path.name} ({item.outcome})"
            for item, role in zip(labelled, roles, strict=True)
            if role != "left out" and item.space is None
        ]:
            raise TrifoldError(
                f"problems of this run were labelled when it began, but not this time: {', '.join(lost)}",
                place=str(folder.path),
                remedy="restore what has changed, or raise seconds or memory_gib in the limits of its config.json "
                "(with the same limits a failure is not tried again), and resume again",
            )
        return recorded_split(labelled, roles, recorded["split"])


def _check_unchanged(folder: RunFolder, found: dict[str, Any], directory: str) -> None:
    """Raise if the run began with other data than was found now."""
    if (folder.path / "data.json").exists():
        with folder.opened("data.json") as before:
            known, atoms, lessons = before["hash"], before["atoms"], before.get("lessons")
            begun = before.get("begin")
        if known != found["hash"]:
            raise _changed(directory)
        if lessons != found.get("lessons"):
            raise TrifoldError(
                "the teacher or its practice problems have changed since this run began",
                place=str(folder.path),
                remedy="restore them, or train anew in another folder",
            )
        if begun != found.get("begin"):
            raise TrifoldError(
                "the model that this run began with has changed since",
                place=str(folder.path),
                remedy="restore it, or train anew in another folder",
            )
        if new := sorted(name for name in found["atoms"] if name.startswith(CONSTANT) and name not in atoms):
            raise TrifoldError(
                f"this run began with a version that did not tell constants from other objects: {', '.join(new)}",
                place=str(folder.path),
                remedy="train anew in another folder; the model of this run can be used as it is",
            )


def _changed(place: str) -> TrifoldError:
    return TrifoldError(
        "the problems have changed since this run began, or its data.json has",
        place=place,
        remedy="restore them, or train anew in another folder",
    )


def describe_data(
    domain_text: str,
    labelled: Sequence[Labelled],
    parts: Split,
    target: float | None,
    data: Dataset,
    held_out: Dataset,
) -> dict[str, Any]:
    """The data of a run as JSON: what was labelled, what was left out and why, and a hash of what is learned from."""
    digest, training, validation = hashlib.sha256(domain_text.encode()), parts.training, parts.validation
    for role, items in (("validation", validation), ("training", training)):
        for item in items:
            digest.update(f"\0{role}\0{item.digest}".encode())
    return {
        "hash": digest.hexdigest(),
        "problems": len(training),
        "states": int(data.weights.sum()),
        "inputs": len(data),  # fewer than states if they were merged
        "dead_ends": sum(item.dead_ends for item in training),
        "dead_end_target": target,
        "largest_value": max(item.max_distance for item in training),
        "objects": max(len(item.space.objects) for item in training if item.space is not None),
        "validation_problems": len(validation),
        "validation_states": len(held_out),
        "split": parts.to_json(),
        "extent": Extent.of_labelled(training).to_json(),
        "resident": data.encoder is None,
        "bytes": data.structures.nbytes,
        "atoms": data.atom_counts,
        "files": [
            {
                "file": item.path.name,
                "role": role,
                "outcome": item.outcome,
                "message": item.message,
                "states": item.states,
                "kept": item.kept,
                "dead_ends": item.dead_ends,
                "largest_value": item.max_distance,
            }
            for item, role in zip(labelled, parts.roles(labelled), strict=True)
        ],
    }


def describe_split(parts: Split) -> dict[str, Any]:
    """The split as a model remembers it: the rule and, where files of one folder were split, which went where."""
    if parts.rule != HELD_OUT:
        return {"rule": parts.rule}
    names = {
        role: [item.path.name for item in items]
        for role, items in (("training", parts.training), ("validation", parts.validation))
    }
    return {"rule": parts.rule, "families": parts.families, **names}
