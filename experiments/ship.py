"""Put the model of a training run into the box: half precision on disk if that changes no decision.

    python experiments/ship.py runs/logistics logistics --problems suite/logistics/validation
    python experiments/ship.py runs/logistics-both logistics-values --values-alone --problems suite/logistics/validation

The policies of the full-precision model are followed on the problems, by values and by scores of actions if it has
them, and at every step both models choose. If any choice differs by more than a tie, the weights stay in float32, and
it is said so. The file keeps the run's provenance.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from torch import Tensor

from trifold.errors import TrifoldError
from trifold.model import Model
from trifold.pddl import Problem, State, load_problem
from trifold.pddl.folder import find_problems
from trifold.planning import TIE, choose, solve
from trifold.provenance import Origin, spell_command
from trifold.shipped import FOLDER, SUFFIX
from trifold.training.run import RunFolder


@dataclass
class Comparison:
    """V and scores of one model, which also counts how often another would choose what is worse by them."""

    model: Model
    other: Model
    decisions: int = 0
    differences: int = 0

    def values(self, states: Sequence[State]) -> Tensor:
        ours, theirs = self.model.values(states), self.other.values(states)
        self._count(ours.tolist(), theirs.tolist())
        return ours

    def look(self, state: State, actions: list[str]) -> tuple[float, list[float]]:
        value, ours = self.model.look(state, actions)
        if actions and not state.problem.is_goal(state):
            self._count([-score for score in ours], [-score for score in self.other.look(state, actions)[1]])
        return value, ours

    def _count(self, ours: list[float], theirs: list[float]) -> None:
        if len(ours) > 1:  # else nothing is decided
            least, chosen = min(ours), ours[choose(theirs)]
            self.decisions += 1
            self.differences += chosen - least > TIE * max(1.0, abs(least))


def compare(model: Model, other: Model, problems: Sequence[Problem], max_steps: int) -> Comparison:
    """Count the decisions along the model's trajectories, by each policy that it has heads for, and those that differ.

    By scores, what was visited counts as well: a look does not know of it.
    """
    comparison = Comparison(model, other)
    for problem in problems:
        for policy in (["values"] if model.config.has_values else []) + (
            ["actions"] if model.config.has_actions else []
        ):
            trajectory = solve(problem, comparison.values, looks=comparison.look, policy=policy, max_steps=max_steps)
            told = f"{trajectory.outcome.value} by {policy} after {len(trajectory.actions)} steps"
            print(f"{problem.name}: {told}", flush=True)
    return comparison


def load_run(run: Path) -> Model:
    """The model that a run kept, if its provenance is whole; its command is kept without the place of the program."""
    model = Model.load(RunFolder(run).model)
    origin = Origin.of(model.provenance)
    unknown = [field.name for field in fields(Origin) if getattr(origin, field.name) is None]
    if unknown:
        raise TrifoldError(
            f"the model does not say its {', '.join(unknown)}",
            place=str(run),
            remedy=f"trifold train --resume {run}, or train it anew",
        )
    program, *words = model.provenance["command"]
    model.provenance["command"] = [spell_command([program]).split()[-1], *words]
    return model


def values_alone(model: Model) -> Model:
    """A model without its scores of actions: V, as it was learned beside them."""
    facts = model.signature, model.domain_text, model.training_atoms
    alone = Model.fresh(replace(model.config, heads="values"), *facts, seed=0)
    weights = model.network.state_dict()
    alone.network.load_state_dict({name: weights[name] for name in alone.network.state_dict()})
    alone.provenance = model.provenance
    return alone


def ship(model: Model, path: Path, problems: Sequence[Path], *, device: str = "cpu", max_steps: int = 1000) -> str:
    """Write the model, and return the type of its weights on disk."""
    domain = model.domain
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, path.name), torch.float16)
        half = Model.load(Path(folder, path.name), device)
    loaded = [load_problem(domain, problem) for problem in problems]
    found = compare(model.to(device), half, loaded, max_steps)
    dtype = torch.float32 if found.differences else torch.float16
    name = str(dtype).removeprefix("torch.")
    checked = {"problems": len(problems), "decisions": found.decisions, "differences": found.differences}
    model.provenance["storage"] = {"dtype": name, "half_precision": checked}
    model.save(path, dtype)
    print(f"half precision changes {found.differences} of {found.decisions} decisions")
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the folder that `trifold train` made")
    parser.add_argument("name", help="such as logistics")
    parser.add_argument("--problems", type=Path, nargs="+", required=True, help="folders or files to compare on")
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder of shipped models")
    parser.add_argument("--values-alone", action="store_true", help="leave out the scores of actions")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--max-steps", type=int, default=1000)
    options = parser.parse_args()
    path = options.out / f"{options.name}{SUFFIX}"
    try:
        problems = [problem for place in options.problems for problem in find_problems(place)]
        model = load_run(options.run)
        model = values_alone(model) if options.values_alone else model
        dtype = ship(model, path, problems, device=options.device, max_steps=options.max_steps)
    except TrifoldError as error:
        raise SystemExit(f"error: {error}") from None
    print(f"{path}: {dtype}, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
