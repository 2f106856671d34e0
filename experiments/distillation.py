"""A teacher and a pupil: does a small model learn more from a good one, in the same CPU time, than from labels alone?

    python experiments/distillation.py build/suite/blocks-m --teacher blocks-m --practice drawn/practice \
        --judge drawn/judge --cpu-minutes 10 --seeds 0 1 --set encoder=plain --set layers=16 --run runs/pupils

For each way and seed a pupil is trained for so many minutes of this process, counted by the processor's clock, with a
cosine schedule that ends with them:

    direct     on the labelled states of DIR/train alone
    distilled  so for a share of the time; then, as in DAgger, its policy is followed on practice problems, round after
               round, the teacher says V of the states that it visits and which actions are good there (those whose
               score is above 0, or else the best), and half of every batch are such states. Following and asking take
               of the same time
    imitated   as distilled, but on the states that the teacher's own policy visits

Practice problems may be too large to be labelled: nothing is known of them but what the teacher says. Then the policy
of each pupil, without search, is judged on other problems, and so is the teacher's. What was trained or judged before
is not done again.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from trifold.data import Dataset, default_cache, label, read_folder
from trifold.files import read_text
from trifold.model import Model, ModelConfig
from trifold.nn import REFERENCE
from trifold.pddl import Problem, State, load_domain, load_problem
from trifold.pddl.folder import find_problems
from trifold.planning import states_along
from trifold.shipped import find_model
from trifold.structures import Signature, Structures, concatenate
from trifold.training import BalancedSampler, Settings, build_optimizer, read_recipe
from trifold.training.loss import batch_loss
from trifold.training.schedule import learning_rate
from trifold.training.step import set_rate

WAYS = ("direct", "distilled", "imitated")
ALONE = 0.4
"""The share of its time for which a pupil that is taught learns from labels alone: until then its policy wanders."""

ROUNDS = 8
"""How often a pupil practises, evenly over the rest of its time."""

LONGEST = 1.5, 10
"""A way of practice ends after so many times the V that the teacher gives its start, and so many steps more."""

MAX_STEPS = 300
"""After these an attempt that is judged has failed: fewer than elsewhere, as a policy that wanders takes them all."""


class Attempt(NamedTuple):
    """What a policy did on a problem: the length of its plan, None without one, and processor seconds a step."""

    problem: str
    length: int | None
    seconds: float


@dataclass
class Taught:
    """The states that a pupil was taught, encoded, with what the teacher says of them."""

    parts: list[Structures] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.values)

    def add(self, structures: Structures, values: Sequence[float]) -> None:
        """Add encoded states with queries that say which actions are good."""
        self.parts = [concatenate([*self.parts, structures])]
        self.values += values

    def take(self, indices: Tensor) -> tuple[Structures, Tensor]:
        """The states at these indices, and their targets."""
        return self.parts[0].take(indices), torch.tensor(self.values)[indices]


class Lesson:
    """Practice problems, and a teacher who says what it thinks of the states that a policy visits there."""

    def __init__(self, teacher: Model, problems: Sequence[Problem], pupil: Model, seed: int, own_way: bool) -> None:
        self.teacher, self.problems, self.pupil, self.own_way = teacher, problems, pupil, own_way
        self.order = self._endless(random.Random(seed))
        self.taught = Taught()

    def practise(self, problems: int) -> None:
        """Follow the policy on the next problems, ask the teacher, and remember what it says."""
        for problem in (next(self.order) for _ in range(problems)):
            follower = self.pupil if self.own_way else self.teacher
            first = self.teacher.look(problem.initial_state, [a for a, _ in problem.successors(problem.initial_state)])
            most = int(LONGEST[0] * first[0] + LONGEST[1])
            found = follower.solve(problem, search=None, policy="actions", max_steps=most)
            states = [state for state in states_along(problem, found.actions) if not problem.is_goal(state)]
            if asked := [state for state in states if problem.successors(state)]:  # nothing is good in a blind alley
                self._ask(problem, asked)

    def _ask(self, problem: Problem, states: Sequence[State]) -> None:
        """Remember what the teacher says of states of a problem."""
        actions = [[action for action, _ in problem.successors(state)] for state in states]
        looks = self.teacher.look_each(states, actions)
        good = [good_actions(scores) for _, scores in looks]
        table = problem.action_table([action for own in actions for action in own])
        counts = np.array([len(own) for own in actions])
        queried = table.add_queries(
            problem.structures(states), counts, np.arange(len(table)), np.concatenate(good).astype(np.int64)
        )
        encoded = self.pupil.queried(queried)
        self.taught.add(
            Structures(encoded.signature, encoded.arguments, encoded.atom_counts, encoded.element_counts),
            [value for value, _ in looks],
        )

    def _endless(self, rng: random.Random) -> Iterator[Problem]:
        while True:
            yield from rng.sample(self.problems, len(self.problems))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="domain.pddl and train/, as for `trifold train`")
    parser.add_argument("--teacher", required=True, help="a model that scores actions, by name or file")
    parser.add_argument("--practice", type=Path, required=True, help="a folder of problems, labelled by no search")
    parser.add_argument("--judge", type=Path, action="append", required=True, help="a folder of other problems")
    parser.add_argument("--cpu-minutes", type=float, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--ways", nargs="+", default=["direct", "distilled"], choices=WAYS)
    parser.add_argument("--judge-teacher", action="store_true", help="let the teacher solve what is judged, too")
    parser.add_argument("--recipe", default="laptop")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="changes of the recipe")
    parser.add_argument("--problems", type=int, default=4, help="practice problems a round")
    parser.add_argument("--run", type=Path, required=True, help="the folder of pupils and of attempts")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.run.mkdir(parents=True, exist_ok=True)
    teacher = Model.load(find_model(options.teacher))
    judged = sorted(path for folder in options.judge for path in find_problems(folder))
    names = [f"{way}-{seed}" for seed in options.seeds for way in options.ways]
    if left := [name for name in names if not (options.run / f"{name}.safetensors").exists()]:
        data = Labels.read(options.directory, options.recipe, options.set)
        for name in left:
            way, seed = name.split("-")
            train(data, way, int(seed), teacher, options).save(options.run / f"{name}.safetensors")
    models = {name: Model.load(options.run / f"{name}.safetensors") for name in names}
    models |= {"teacher": teacher} if options.judge_teacher else {}
    found: dict[str, list[Attempt]] = {name: [] for name in models}
    for path in judged:  # problem by problem: what is broken off has attempted the same ones by all
        for name, model in models.items():
            found[name].append(attempt(model, path, options.run / f"{name}.jsonl"))
    print("\n".join(tell(found)))


@dataclass(frozen=True)
class Labels:
    """The labelled states of a folder, encoded for pupils."""

    settings: Settings
    data: Dataset
    facts: tuple[ModelConfig, Signature, str, dict[str, int]]
    schemas: tuple[tuple[str, int], ...]

    @classmethod
    def read(cls, directory: Path, name: str, changes: Sequence[str]) -> Labels:
        """Label the training problems, or find their labels in the cache, and encode their states."""
        recipe = read_recipe(name, dict(parse_change(text) for text in changes))
        files = read_folder(directory)
        labelled = label(files.domain, files.training, limits=recipe.limits, workers=1, cache=default_cache())
        spaces = [item.space for item in labelled if item.space is not None]
        options: dict[str, Any] = {"dead_end_target": None, "with_actions": True}
        data = Dataset.build(spaces, recipe.model.build_encoder(), **options)
        print(f"{len(spaces)} of {len(labelled)} problems labelled, {len(data)} states", flush=True)
        facts = (recipe.model, spaces[0].table.signature, read_text(files.domain), data.atom_counts)
        return cls(recipe.settings, data, facts, spaces[0].actions.schemas)


def train(labels: Labels, way: str, seed: int, teacher: Model, options: argparse.Namespace) -> Model:
    """A pupil, trained in this way for the minutes of the options."""
    settings, seconds = labels.settings, 60 * options.cpu_minutes
    model = Model.fresh(*labels.facts, seed, labels.schemas)
    optimizer = build_optimizer(model.network.train(), settings.learning_rate, REFERENCE)
    sampler = BalancedSampler(labels.data.targets, settings.batch, seed, None, settings.balance)
    domain = load_domain(labels.facts[2])
    problems = [load_problem(domain, path) for path in find_problems(options.practice)] if way != "direct" else []
    lesson = Lesson(teacher, problems, model, seed, own_way=way == "distilled")
    rng = np.random.default_rng(seed)
    began, step, rounds, asking, losses = time.process_time(), 0, 0, 0.0, [0.0]
    while (done := (time.process_time() - began) / seconds) < 1:
        if way != "direct" and done >= ALONE + (1 - ALONE) * rounds / ROUNDS and rounds < ROUNDS:
            before = time.process_time()
            lesson.practise(options.problems)
            rounds, asking = rounds + 1, asking + time.process_time() - before
        chosen = sampler.draw(step)
        structures, targets = labels.data.take(chosen[::2] if len(lesson.taught) else chosen)
        if len(lesson.taught):
            half = torch.from_numpy(rng.integers(len(lesson.taught), size=len(chosen) - len(structures)))
            more, said = lesson.taught.take(half)
            structures, targets = concatenate([structures, more]), torch.cat([targets, said])
        set_rate(optimizer, learning_rate(settings.schedule, settings.learning_rate, done))
        loss = batch_loss(model.network, structures, targets, REFERENCE)
        optimizer.zero_grad()
        loss.backward()
        if settings.clip is not None:
            torch.nn.utils.clip_grad_norm_(model.network.parameters(), settings.clip)
        optimizer.step()
        losses.append(0.99 * losses[-1] + 0.01 * float(loss.detach()))
        step += 1
        if step % 500 == 0:
            print(f"{way} {seed}: step {step}, {done:.0%}, loss {losses[-1]:.3f}", flush=True)
    told = {"way": way, "seed": seed, "steps": step, "taught": len(lesson.taught), "asking": asking, "loss": losses[-1]}
    print(json.dumps(told), flush=True)
    with (options.run / "trainings.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(told | {"seconds": seconds, "changes": options.set}) + "\n")
    for problem in problems:
        problem.release()
    return model


def attempt(model: Model, path: Path, file: Path) -> Attempt:
    """What the policy of a model does on a problem, which it attempts once: it is kept as a line of the file."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for known in (Attempt(**json.loads(line)) for line in lines):
        if known.problem == str(path):
            return known
    problem = load_problem(model.domain, path)
    began = time.process_time()
    found = model.solve(problem, search=None, policy="actions", max_steps=MAX_STEPS)
    seconds = (time.process_time() - began) / max(found.steps, 1)
    new = Attempt(str(path), None if found.plan is None else len(found.plan), seconds)
    problem.release()
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(new._asdict()) + "\n")
    return new


def tell(found: Mapping[str, Sequence[Attempt]]) -> list[str]:
    """A line about what each did; lengths are over the problems that all have solved."""
    common = [all(attempt.length is not None for attempt in attempts) for attempts in zip(*found.values(), strict=True)]
    lines = []
    for name, attempts in found.items():
        solved = sum(attempt.length is not None for attempt in attempts)
        length = sum(attempt.length or 0 for attempt, is_common in zip(attempts, common, strict=True) if is_common)
        pace = 1000 * float(np.median([attempt.seconds for attempt in attempts]))
        lines.append(
            f"{name}: {solved} / {len(attempts)}, {length} steps for {sum(common)} that all solve, {pace:.1f} ms a step"
        )
    return lines


def good_actions(scores: Sequence[float]) -> list[bool]:
    """Which actions a teacher calls good: those scored above 0, more likely optimal than not, or else the best.

    >>> good_actions([0.5, -2.0, 3.0]), good_actions([-1.0, -2.0])
    ([True, False, True], [True, False])
    """
    best = max(scores)
    return [score > 0 or score == best for score in scores]


def parse_change(text: str) -> tuple[str, Any]:
    """A key and a value of the recipe, from "key=value"."""
    key, value = text.split("=", 1)
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


if __name__ == "__main__":
    main()
