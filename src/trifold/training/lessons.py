"""Lessons: a pupil goes its own way through practice problems, and a teacher says what is good there.

As in DAgger (Ross, Gordon and Bagnell, A Reduction of Imitation Learning and Structured Prediction to No-Regret Online
Learning, AISTATS 2011): the states that are learned from are those that the pupil's own policy visits, and a model that
is good already is the expert. Practice problems are never labelled, so they may be too large for that.

A round is a few ways, each a line of lessons.jsonl in the folder of the seed. A resumed training reads there what was
taught until its last save, and asks no one again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trifold.data import SHARED, Labelled, Split
from trifold.errors import TrifoldError
from trifold.evaluation import file_sha256
from trifold.files import MOST_DATA_BYTES, write_whole
from trifold.limits import MAX_STEPS
from trifold.lines import append_line, read_lines
from trifold.model import Model, ModelConfig
from trifold.pddl import Domain, Problem, State, find_problems, load_problem, read_problem
from trifold.planning import states_along
from trifold.sealed import Damaged
from trifold.shipped import find_model
from trifold.structures import Structures, concatenate
from trifold.training.larger import TOO_LARGE
from trifold.training.settings import Settings

REACH = 1.5, 10
"""A way ends after so many times the V that the teacher gives its start, and so many steps more."""

TEST = "test"
"""The folder, beside those that are trained on, whose problems nothing may be learned from."""


@dataclass(frozen=True)
class Lesson:
    """The way of a pupil through a practice problem, and what the teacher says of the states on it.

    round    of practice in which the pupil went there, from 1
    problem  its place among the practice problems
    actions  from the initial state on
    values   V of each state on the way, in order, but of none that is a goal or has no actions
    good     the good actions of each of these, as places among its applicable ones in the order of their texts
    """

    round: int
    problem: int
    actions: list[str]
    values: list[float]
    good: list[list[int]]

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> Lesson:
        """Read and check a line of lessons.jsonl."""
        match line:
            case {"round": int(), "problem": int(), "actions": [*actions], "values": [*values], "good": [*good]}:
                texts = all(isinstance(action, str) for action in actions)
                numbers = all(isinstance(value, float) for value in values)
                places = [place for own in good for place in (own if isinstance(own, list) else [None])]
                placed = all(type(place) is int and place >= 0 for place in places)
                fits = len(values) == len(good) and len(values) - len(actions) in (0, 1)
                if len(line) == 5 and texts and numbers and fits and placed:
                    return cls(**line)
        raise Damaged("it does not say which way was gone, or what was taught there")


@dataclass(frozen=True)
class Teacher:
    """A model that says what is good, and the problems on which it is asked.

    name, sha256  what it is called, and the hash of its file
    domain        the domain of the training
    problems      the practice problems, of which nothing is known but what the teacher says
    """

    model: Model
    name: str
    sha256: str
    domain: Domain
    problems: Sequence[Path] = ()

    @classmethod
    def read(cls, content: dict[str, Any], domain: Domain) -> Teacher | None:
        """The teacher of a run's config, if there is one; raises if it cannot teach this pupil on these problems."""
        if content.get("teacher") is None:
            return None
        file = find_model(content["teacher"])
        model, pupil = Model.load(file, content["device"]), ModelConfig.from_json(content["model"])
        model.check_domain(domain)
        if not pupil.has_actions:
            raise TrifoldError(
                "a pupil is taught which actions are good, and this one has values alone",
                remedy="--set heads=both, or --set heads=actions",
            )
        settings = Settings.from_json(content["settings"])
        if not settings.part:
            raise TrifoldError(
                f"of a batch of {settings.batch} a share of {settings.taught:g} is no state that was taught",
                remedy="--set batch=32, or --set taught=0.5",
            )
        if not model.config.has_actions or (pupil.has_values and not model.config.has_values):
            lacks = "scores no actions" if not model.config.has_actions else "has no V"
            raise TrifoldError(
                f"the teacher {lacks}, and the pupil is to learn that",
                place=content["teacher"],
                remedy="choose a teacher that was trained with heads=both"
                + ("" if lacks.startswith("scores") else ", or --set heads=actions"),
            )
        found = cls(model, content["teacher"], file_sha256(file, MOST_DATA_BYTES), domain)
        if content.get("practice") is None:
            return found
        practice = Path(content["practice"])
        tests = (Path(content["directory"]) / TEST).resolve()
        if tests in (practice, *practice.parents):
            raise TrifoldError(
                "nothing is learned from test problems, or results on them would tell too much",
                place=str(practice),
                remedy="draw others of that size with another seed: trifold generate DOMAIN --help",
            )
        train = practice / "train"
        problems = find_problems(train if train.is_dir() else practice)
        for problem in problems:
            read_problem(domain, problem)  # better said before the labelling than after it
        return replace(found, problems=problems)

    def practising(self, labelled: Sequence[Labelled], apart: Sequence[Labelled], parts: Split) -> Teacher:
        """The teacher with its problems: without any, the training files, labelled or too large for that.

        What is held out is not practised on; nor what was given apart for that, and is too large to be labelled.
        """
        held_out = [] if parts.rule == SHARED else [*parts.validation, *apart]
        digests = {file_sha256(item.path) for item in held_out}
        if shared := [path.name for path in self.problems if file_sha256(path) in digests]:
            raise TrifoldError(
                f"a pupil cannot practise on what is held out: {', '.join(shared[:6])}",
                place=str(self.problems[0].parent),
                remedy="give a folder of other problems with --practice",
            )
        out = {item.path for item in held_out}
        usable = [item.path for item in labelled if item.space is not None or item.outcome in TOO_LARGE]
        return replace(self, problems=self.problems or [path for path in usable if path not in out])

    def to_json(self) -> dict[str, Any]:
        """What data.json says of it: with another teacher, or other problems, a run does not go on."""
        problems = [{"file": path.name, "sha256": file_sha256(path)} for path in self.problems]
        return {"teacher": self.name, "sha256": self.sha256, "problems": problems}

    def draw(self, seed: int, ways: int) -> int:
        """The problem that is practised on after so many ways: all in a shuffled order, and again in another one."""
        time, place = divmod(ways, len(self.problems))
        return int(np.random.default_rng((seed, time)).permutation(len(self.problems))[place])

    def teach(
        self, pupil: Model, term: int, number: int, on_step: Callable[[object], object]
    ) -> tuple[Lesson, Structures | None]:
        """Follow the pupil's policy through a problem, and say what is good in the states that it visits."""
        with self._opened(number) as problem:
            options: dict[str, Any] = {"search": None, "policy": "actions", "on_step": on_step}
            value, _ = self.model.look(problem.initial_state, _actions(problem.initial_state))
            if math.isnan(value):  # a teacher without V shows how far it is
                value = self.model.solve(problem, **options).steps
            most = min(REACH[0] * max(value, 0.0) + REACH[1], MAX_STEPS)
            way = pupil.solve(problem, max_steps=int(most), **options)
            asked = [state for state in way.states if not problem.is_goal(state)]
            actions = list(map(_actions, asked))
            asked = [state for state, own in zip(asked, actions, strict=True) if own]
            actions = [own for own in actions if own]
            looks = self.model.look_each(asked, actions)
            values = [0.0 if math.isnan(value) else value for value, _ in looks]  # without V the pupil has none either
            lesson = Lesson(term, number, list(way.actions), values, [good_actions(scores) for _, scores in looks])
            return lesson, _queried(problem, asked, actions, lesson)

    def recall(self, lesson: Lesson) -> Structures | None:
        """The states of a lesson that was given before."""
        if not 0 <= lesson.problem < len(self.problems):
            raise Damaged("it has a problem that there is not")
        with self._opened(lesson.problem) as problem:
            states = states_along(problem, lesson.actions)
            if len(states) <= len(lesson.actions):
                raise Damaged(f"{lesson.actions[len(states) - 1]} is not applicable on its way")
            taught = states[: len(lesson.values)]
            return _queried(problem, taught, list(map(_actions, taught)), lesson)

    @contextmanager
    def _opened(self, number: int) -> Iterator[Problem]:
        """One of the problems, as long as it is needed."""
        problem = load_problem(self.domain, self.problems[number])
        try:
            yield problem
        finally:
            problem.release()


class Lessons:
    """What a pupil has been taught, as the folder of its seed has it.

    given       the lessons so far
    structures  the states that were taught, over objects, with the good actions among their queries; None before any
    targets     (states,) V, as the teacher has it
    """

    def __init__(self, teacher: Teacher, pupil: Model, seed: int, folder: Path, rounds: int) -> None:
        self.teacher, self.pupil, self.seed, self.path = teacher, pupil, seed, folder / "lessons.jsonl"
        self.given: list[Lesson] = []
        self.structures: Structures | None = None
        remedy = "restore the file, or train anew in another folder"
        for lesson in self._read(rounds, remedy):
            try:
                self._take(lesson, teacher.recall(lesson))
            except (Damaged, IndexError) as error:
                raise TrifoldError(f"a lesson is damaged: {error}", place=str(self.path), remedy=remedy) from error

    @property
    def states(self) -> int:
        """How many states were taught."""
        return sum(len(lesson.values) for lesson in self.given)

    @property
    def targets(self) -> Tensor:
        """V of all states that were taught, in their order."""
        return torch.tensor([value for lesson in self.given for value in lesson.values])

    def practise(self, term: int, ways: int, is_over: Callable[[], bool]) -> bool:
        """A round: so many ways, each written before the next one. False, and nothing is taught, if the time is over.

        ``is_over`` is asked at every step, and may raise. Until the training is saved the ways are of no account:
        whoever goes on from before gives the round again.
        """
        found = []
        for way in range(len(self.given), len(self.given) + ways):
            number = self.teacher.draw(self.seed, way)
            lesson, structures = self.teacher.teach(self.pupil, term, number, lambda step: is_over())
            if is_over():
                return False
            append_line(self.path, asdict(lesson))
            found.append((lesson, structures))
        for lesson, structures in found:
            self._take(lesson, structures)
        return True

    def to_json(self) -> dict[str, Any]:
        """What the pupil says of who taught it."""
        teacher = {"name": self.teacher.name, "sha256": self.teacher.sha256}
        return teacher | {"problems": len(self.teacher.problems), "states": self.states}

    def _take(self, lesson: Lesson, structures: Structures | None) -> None:
        self.given.append(lesson)
        if structures is not None:
            self.structures = structures if self.structures is None else concatenate([self.structures, structures])

    def _read(self, rounds: int, remedy: str) -> list[Lesson]:
        """The lessons of so many rounds; those of later ones, which were not saved, are removed."""
        if not self.path.exists():
            return []
        what = "a lesson"
        found = read_lines(self.path, "round", Lesson.from_json, what=what, remedy=remedy)
        kept = [lesson for lesson in found if lesson.round <= rounds]
        write_whole(self.path, "".join(json.dumps(asdict(lesson)) + "\n" for lesson in kept).encode())
        return kept


def good_actions(scores: Sequence[float]) -> list[int]:
    """Which actions a teacher calls good: those scored above 0, more likely optimal than not, or else the best.

    >>> good_actions([0.5, -2.0, 3.0]), good_actions([-1.0, -2.0])
    ([0, 2], [0])
    """
    best = max(scores)
    return [place for place, score in enumerate(scores) if score > 0 or score == best]


def _actions(state: State) -> list[str]:
    return [action for action, _ in state.problem.successors(state)]


def _queried(
    problem: Problem, states: Sequence[State], actions: Sequence[list[str]], lesson: Lesson
) -> Structures | None:
    """The structures of states, with their actions as queries that say which are good; None of no states."""
    if not states:
        return None
    optimal = [np.zeros(len(own), np.int64) for own in actions]
    for own, good in zip(optimal, lesson.good, strict=True):
        own[good] = 1
    table = problem.action_table([action for own in actions for action in own])
    counts = np.array([len(own) for own in actions])
    return table.add_queries(problem.structures(states), counts, np.arange(len(table)), np.concatenate(optimal))
