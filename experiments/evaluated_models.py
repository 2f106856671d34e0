"""The section "The models" of the page of results: how each model file with records came to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from attempts import Box, Results
from page_tables import table
from trifold.domains import PAPER
from trifold.evaluation.comparison import UNKNOWN, Columns, number
from trifold.evaluation.first_plan import PLANNER
from trifold.evaluation.records import Record
from trifold.tensor_file import open_tensors

MODELS = """\
## The models

How each model came to be: how many seeds were trained and which was kept, the step that it is of and its validation
loss, and the seconds of all seeds to their ends. File and data are the first digits of their SHA-256; "in the box" says
whether the file is one of those that `trifold models` lists.
"""
MODELS_OF_ACTIONS = """\
Rows above with these policies are of this file, and where test sets are named only those of these sets. k is the size
of embeddings and L the number of layers; of files that are not in the box they are not recorded.
"""


@dataclass(frozen=True)
class Evaluated:
    """A model file: its domain, a record that tells of it, the policies of its rows, and where the box has it."""

    domain: str
    record: Record
    policies: str
    boxed: Path | None

    @property
    def in_the_box(self) -> str:
        if self.boxed is None:
            return "no"
        return "yes" if self.boxed.stem == self.domain else f"yes, as {self.boxed.stem}"


MODEL_COLUMNS: Columns[Evaluated] = {
    "Domain": lambda model: model.domain,
    "Model": lambda model: model.record["model"],
    "Command": lambda model: model.record.get("training_command") or UNKNOWN,
    "File": lambda model: model.record["model_sha256"][:8],
    "In the box": lambda model: model.in_the_box,
    "Data": lambda model: (model.record.get("training_data") or UNKNOWN)[:8],
    "Hardware": lambda model: model.record.get("training_hardware") or UNKNOWN,
    "Seeds": lambda model: number(model.record.get("training_seeds"), ""),
    "Kept": lambda model: number(model.record.get("training_seed"), ""),
    "Steps": lambda model: number(model.record.get("training_steps"), ","),
    "Loss": lambda model: number(model.record.get("training_validation_loss"), ".4f"),
    "Seconds": lambda model: number(model.record.get("training_seconds"), ",.0f"),
}
POLICY_COLUMNS: Columns[Evaluated] = {
    "Domain": MODEL_COLUMNS["Domain"],
    "Model": MODEL_COLUMNS["Model"],
    "Policies": lambda model: model.policies,
    "k, L": lambda model: _size(model.boxed) if model.boxed else UNKNOWN,
}
"""The first columns where there are two policies, and so perhaps two models of a domain."""


def evaluated_models(results: Results, box: Box) -> str:
    """Write the section: what its columns are, and its table."""
    return f"{MODELS}\n{_models(results, box)}"


def _models(results: Results, box: Box) -> str:
    """A line for each model file that the records are about; with two policies also which rows are of it."""
    models: dict[str, Evaluated] = {}
    sets: dict[tuple[str, str, str], dict[str, dict[str, None]]] = {}  # of a domain, model and policy, by file
    for domain in PAPER:
        for name, record in [(name, record) for name, domains in results.items() for record in domains.get(domain, [])]:
            if record["model"] != PLANNER:
                file = record["model_sha256"]
                models[file] = Evaluated(domain, record, "", box.get(file))
                rows = sets.setdefault((domain, record["model"], record["policy"]), {})
                rows.setdefault(file, {})[name] = None
    if not models:
        return "No model was evaluated yet.\n"
    evaluated = [replace(model, policies=_policies(file, sets)) for file, model in models.items()]
    if any(policy == "actions" for _, _, policy in sets):
        return f"{MODELS_OF_ACTIONS}\n" + table(evaluated, {**POLICY_COLUMNS, **MODEL_COLUMNS}, names=9)
    return table(evaluated, MODEL_COLUMNS, names=7)


def _policies(file: str, sets: Mapping[tuple[str, str, str], Mapping[str, Mapping[str, None]]]) -> str:
    """The policies that a file has rows of, and of which sets, if another file has the rows of others."""
    words = []
    for (_, _, policy), files in sets.items():
        if file in files:
            is_all = files[file].keys() == {name for names in files.values() for name in names}
            words.append(policy if is_all else f"{policy} ({', '.join(files[file])})")
    return ", ".join(words)


def _size(file: Path) -> str:
    with open_tensors(file) as opened:
        return f"{opened.header['config']['dim']}, {opened.header['config']['layers']}"
