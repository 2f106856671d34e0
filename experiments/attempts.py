"""Which attempts the page of results tells of: those of a test set by a policy, of the one model that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trifold.domains import PAPER
from trifold.evaluation.published import OWN_FILES, PUBLISHED
from trifold.evaluation.records import INSTANCE_FIELDS, SETTING_FIELDS, Record, file_sha256, last_of_each
from trifold.shipped import formerly, shipped_models

Results = Mapping[str, Mapping[str, Sequence[Record]]]
"""Records by set and domain."""
Box = Mapping[str, Path]
"""The files of the models in the box, by their SHA-256, and by that which they had in an older format."""

MAIN = "R-GNN[1]"
"""The architecture that the page is about."""

SIZES = {domain: PUBLISHED[domain, MAIN].instances for domain in PAPER}
"""How many test problems each domain has in the suite, which has as many as the paper."""
PUBLIC_SIZES = {domain: SIZES[domain] for domain in OWN_FILES} | {"visitall": 18, "grid": 20, "rovers": 4}


def main_set(domain: str) -> str:
    """The test set that counts: the paper's own files, if they are public."""
    return "public" if domain in OWN_FILES else "suite"


def include_actions(records: Iterable[Record], model: str | None = None) -> bool:
    """Whether there are records of an architecture, or of any, by the policy `actions`."""
    return any(record["policy"] == "actions" and model in (None, record["model"]) for record in records)


def is_shown(record: Record, policy: str) -> bool:
    """Whether a model may be shown by a policy: any by the scores of its actions, and by values the paper's alone."""
    return record["policy"] == policy and (policy == "actions" or record["model"] == MAIN)


def open_box() -> Box:
    """The models that are shipped."""
    named = {name: file for file in shipped_models().values() for name in (file_sha256(file), formerly(file))}
    return {name: file for name, file in named.items() if name}


def model_name(record: Record, box: Box) -> str:
    """What a model is called in the box, or else the first digits of its file's SHA-256."""
    file = record["model_sha256"]
    return box[file].stem if file in box else file[:8]


def choose_model(results: Results, domain: str, policy: str, box: Box) -> str | None:
    """The model to show of those with records of a policy: the domain's own in the box, then others in the box, and of
    these that with the most and the shortest plans."""
    lengths: dict[str, dict[tuple[object, ...], int | None]] = {}
    for name, record in [(name, record) for name, domains in results.items() for record in domains.get(domain, [])]:
        if is_shown(record, policy):
            lengths.setdefault(model_name(record, box), {})[name, *instance(record)] = record["plan_length"]
    boxed = {file.stem for file in box.values()}

    def rank(model: str) -> tuple[bool, bool, int, int]:
        solved = [length for length in lengths[model].values() if length is not None]
        return model == domain and policy == "actions", model in boxed, len(solved), -sum(solved)

    return max(lengths, key=rank, default=None)


def instance(record: Record) -> tuple[object, ...]:
    """What tells the problem of a record from other problems."""
    return tuple(record.get(field) for field in INSTANCE_FIELDS)


def choose_attempts(records: Iterable[Record], policy: str, model: str | None, box: Box) -> list[Record]:
    """The attempts of a model by a policy; if there are some with other settings, the most that have the same."""
    runs: dict[tuple[object, ...], list[Record]] = {}
    for record in last_of_each(records):
        if is_shown(record, policy) and model_name(record, box) == model:
            settings = (record["domain"], *(record.get(field) for field in SETTING_FIELDS))
            runs.setdefault(settings, []).append(record)
    return max(runs.values(), key=len, default=[])
