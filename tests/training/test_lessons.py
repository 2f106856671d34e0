"""A pupil practises, a teacher says what is good there, and a training can be broken off and resumed anywhere."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from trifold.domains import write_problems
from trifold.errors import TrifoldError
from trifold.model import Model, checkpoint
from trifold.nn import Backend
from trifold.pddl import Problem, load_domain, load_problem
from trifold.planning import states_along
from trifold.shipped import pretrained
from trifold.structures import APPLICABLE, OPTIMAL
from trifold.training import Settings, TrainingResult, Watcher, loop, prepare, resume, step, together, train
from trifold.training.lessons import Lesson, Lessons, Teacher, good_actions
from trifold.training.loop import Progress
from trifold.training.loss import validate
from trifold.training.parallel import Ranks
from trifold.training.run import RunFolder, TrainingState
from trifold.training.step import TrainingStep

TINY = {"dim": 4, "layers": 2, "steps": 12, "validate_every": 5, "batch": 8, "heads": "both", "rounds": 3, "ways": 2}


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("practice")
    write_problems(path, "gripper", [5, 6, 7], 3)
    return path


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report every step."""
    monkeypatch.setattr(loop, "SHOW_SECONDS", -1.0)


def run_tiny(folder: Path, run: Path, practice: Path | None, **changes: Any) -> TrainingResult:
    options: dict[str, Any] = {"teacher": "gripper", "practice": practice, **TINY, **changes}
    return train(folder, run, "small", **options)


def lessons_of(run: Path, seed: int = 0) -> list[Lesson]:
    text = (run / f"seed-{seed}" / "lessons.jsonl").read_text(encoding="utf-8")
    return [Lesson.from_json(json.loads(line)) for line in text.splitlines()]


def outcome(run: Path, seed: int = 0) -> tuple[Any, ...]:
    """All that a run leaves behind, times aside."""
    tensors, header = checkpoint.read(run / f"seed-{seed}" / "last.safetensors", "training")
    best = Model.load(run / "model.safetensors")
    return (
        {name: tensor.tolist() for name, tensor in tensors.items()},
        header["state"] | {"seconds": 0, "policy_seconds": 0},
        {name: tensor.tolist() for name, tensor in best.network.state_dict().items()},
        best.provenance["selected"] | {"seconds": 0},
        best.provenance["teacher"],
        [line | {"seconds": 0} for line in RunFolder(run).seed(seed).metrics()],
        lessons_of(run, seed),
    )


class BrokenOff(Exception):
    pass


class Breaker(Watcher):
    """Breaks a training off when it reports a step, or the beginning of a round."""

    def __init__(self, step: int = 99, term: int = 99) -> None:
        self.step, self.term = step, term

    def progress(self, progress: Progress) -> None:
        if progress.step >= self.step or progress.practises >= self.term:
            raise BrokenOff


@pytest.mark.parametrize("save_seconds", [-1.0, 60.0])
def test_a_pupil_that_is_broken_off_ends_where_an_unbroken_one_ends(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save_seconds: float
) -> None:
    """Bit for bit, before, in and after a round of practice: weights, best model, metrics, and what was taught."""
    monkeypatch.setattr(loop, "SAVE_SECONDS", save_seconds)
    run_tiny(folder, tmp_path / "whole", practice)
    assert [lesson.round for lesson in lessons_of(tmp_path / "whole")] == [1, 1, 2, 2, 3, 3]
    assert outcome(tmp_path / "whole")[1]["rounds"] == 3
    for number, at in enumerate(({"step": 3}, {"step": 6}, {"step": 8}, {"step": 11}, {"term": 1}, {"term": 3})):
        run = tmp_path / f"broken-{number}"
        with pytest.raises(BrokenOff):
            run_tiny(folder, run, practice, watcher=Breaker(**at))
        resume(run)
        assert outcome(run) == outcome(tmp_path / "whole")


def test_a_crash_in_the_middle_of_a_round_costs_that_round(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1.0)
    run_tiny(folder, tmp_path / "whole", practice)
    taught = itertools.count(1)
    teach = Teacher.teach

    def crash(*arguments: Any) -> Any:
        if next(taught) == 4:
            raise BrokenOff
        return teach(*arguments)

    with monkeypatch.context() as patch, pytest.raises(BrokenOff):
        patch.setattr(Teacher, "teach", crash)
        run_tiny(folder, tmp_path / "run", practice)
    assert [lesson.round for lesson in lessons_of(tmp_path / "run")] == [1, 1, 2]
    with (tmp_path / "run" / "seed-0" / "lessons.jsonl").open("a") as file:
        file.write('{"round": 2, "prob')  # torn
    resume(tmp_path / "run")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_each_seed_has_its_own_lessons_and_is_what_it_is_alone(folder: Path, practice: Path, tmp_path: Path) -> None:
    run_tiny(folder, tmp_path / "run", practice, seeds=2)
    assert lessons_of(tmp_path / "run", 0) != lessons_of(tmp_path / "run", 1)
    run_tiny(folder, tmp_path / "alone", practice, seed=1)
    assert outcome(tmp_path / "run", 1)[0] == outcome(tmp_path / "alone", 1)[0]


@pytest.fixture
def teacher(practice: Path) -> Teacher:
    model = pretrained("gripper")
    domain = load_domain(practice / "domain.pddl")
    return Teacher(model, "gripper", "0" * 64, domain, sorted((practice / "train").glob("gripper*.pddl")))


@pytest.fixture
def pupil() -> Model:
    """One that goes its own way."""
    model = pretrained("gripper")
    with torch.no_grad():
        for weight in model.network.parameters():
            weight.mul_(0.5)
    return model


def opened(teacher: Teacher, number: int) -> Problem:
    return load_problem(teacher.domain, teacher.problems[number])


@pytest.mark.parametrize("number", [0, 2])
def test_a_lesson_is_what_the_teacher_says_of_the_states_that_the_pupil_visits(
    teacher: Teacher, pupil: Model, number: int
) -> None:
    looked: list[object] = []  # at the clock, which is how a training hears that it is to end
    lesson, structures = teacher.teach(pupil, 1, number, looked.append)
    assert len(looked) == len(lesson.actions) + 1
    problem = opened(teacher, number)
    most = int(1.5 * teacher.model.values([problem.initial_state])[0] + 10)
    way = pupil.solve(problem, search=None, policy="actions", max_steps=most)
    assert tuple(lesson.actions) == way.actions
    own = teacher.model.solve(problem, search=None, policy="actions", max_steps=most).actions
    assert own != way.actions, "the test needs a pupil that the teacher does not lead"
    states = [state for state in states_along(problem, lesson.actions) if not problem.is_goal(state)]
    assert structures is not None and len(states) == len(lesson.values) == len(structures) > 5
    for index, (state, value, good) in enumerate(zip(states, lesson.values, lesson.good, strict=True)):
        actions = [action for action, _ in problem.successors(state)]
        said, scores = teacher.model.look(state, actions)
        assert value == pytest.approx(said, rel=1e-4)
        assert good == good_actions(scores)
        assert all((scores[place] > 0) == (place in good) for place in range(len(actions))) or len(good) == 1
        shown = structures.take(torch.tensor([index]))
        names = [actions[place].strip("()").split() for place in good]
        told = [
            [relation.name.removesuffix(OPTIMAL), *(problem.objects[i] for i in row[: relation.reads])]
            for relation in shown.signature
            if relation.name.endswith(OPTIMAL)
            for row in shown.atoms(relation.name).tolist()
        ]
        assert sorted(told) == sorted(names)
        asked = sum(len(shown.atoms(relation.name)) for relation in shown.signature if APPLICABLE in relation.name)
        assert asked == len(actions) - len(good)
    problem.release()


def test_what_was_taught_is_recalled_without_asking_again(
    teacher: Teacher, pupil: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson, structures = teacher.teach(pupil, 1, 1, lambda step: None)
    monkeypatch.setattr(teacher.model, "look_each", None)
    again = teacher.recall(Lesson.from_json(json.loads(json.dumps(vars(lesson)))))
    assert structures is not None and again is not None and again.signature == structures.signature
    for name in ("arguments", "atom_counts", "element_counts"):
        assert torch.equal(getattr(again, name), getattr(structures, name))


def test_every_problem_is_practised_on_before_one_is_again(teacher: Teacher) -> None:
    orders = {seed: [teacher.draw(seed, way) for way in range(30)] for seed in range(3)}
    for order in orders.values():
        assert all(sorted(order[start : start + 3]) == [0, 1, 2] for start in range(0, 30, 3))
        assert len({tuple(order[start : start + 3]) for start in range(0, 30, 3)}) > 1
    assert len({tuple(order) for order in orders.values()}) == 3


def test_nothing_is_taught_of_goals_and_of_states_without_actions(teacher: Teacher, tmp_path: Path) -> None:
    objects = "(:objects rooma roomb b left) (:init (room rooma) (room roomb) (ball b) (gripper left)"
    for rest in ("(at-robby rooma) (at b rooma)) (:goal (at b rooma))", "(at b rooma)) (:goal (at b roomb))"):
        file = tmp_path / "p.pddl"
        file.write_text(f"(define (problem p) (:domain gripper-strips) {objects} {rest})")
        alone = Teacher(teacher.model, "", "", teacher.domain, [file])
        lesson, structures = alone.teach(teacher.model, 1, 0, lambda step: None)
        assert lesson == Lesson(1, 0, [], [], []) and structures is None and alone.recall(lesson) is None


def test_from_the_first_round_on_half_of_each_batch_is_taught_and_none_before(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[tuple[Tensor, int]] = []

    class Watched(TrainingStep):
        def __call__(self, number: int) -> Tensor:
            indices = self.sampler.draw(number)
            batches.append((indices, len(self.data)))
            structures, targets = self.data.take(indices)
            assert len(structures) == len(targets) == 8
            return super().__call__(number)

    monkeypatch.setattr(loop, "TrainingStep", Watched)
    result = run_tiny(folder, tmp_path / "run", practice, steps=20, alone=0.5, rounds=2)
    states = {lesson.round: 0 for lesson in lessons_of(tmp_path / "run")}
    for lesson in lessons_of(tmp_path / "run"):
        states[lesson.round] += len(lesson.values)
    labelled = result.load().provenance["data"]["states"]
    sizes = [labelled] * 10 + [labelled + states[1]] * 5 + [labelled + states[1] + states[2]] * 5
    assert [size for _, size in batches] == sizes
    assert [int((indices >= labelled).sum()) for indices, _ in batches] == [0] * 10 + [4] * 10
    assert all(int(indices.max()) < size for indices, size in batches)


def test_a_captured_step_is_built_anew_on_all_that_was_taught(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads what lies on the card: all states, with the chance that each has. And no batch is forgotten."""
    built: list[int] = []

    class Captured:
        def __init__(self, network: Any, backend: Any, optimizer: Any, *given: Any, **options: Any) -> None:
            structures, targets, shares, batch = given
            assert len(structures) == len(targets) == len(shares) and batch == 8
            assert float(shares.sum()) == pytest.approx(1) and (shares > 0).all()
            built.append(len(structures))

        def __call__(self, indices: Tensor, following: Tensor, shares: None) -> None:
            """Each batch is beyond it."""

    monkeypatch.setattr(step, "CapturedStep", Captured)
    monkeypatch.setattr(Backend, "captured", True)
    monkeypatch.setattr("trifold.model.model.layer_rows", lambda encoded: torch.tensor(2**40))  # beyond any look
    run_tiny(folder, tmp_path / "run", practice)
    assert len(built) == 4 and built == sorted(set(built))
    assert outcome(tmp_path / "run")[1]["beyond"] == 12


def test_problems_that_are_too_large_to_be_labelled_are_practised_on(tmp_path: Path) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 9], 0)
    write_problems(tmp_path / "pddl", "gripper", [3], 0, split="validation")
    result = run_tiny(tmp_path / "pddl", tmp_path / "run", None, max_states=100, batch=4, ways=3)
    data = json.loads((tmp_path / "run" / "data.json").read_text())
    assert [file["outcome"] for file in data["files"]] == ["labelled", "labelled", "state limit", "labelled"]
    (large,) = [number for number, file in enumerate(data["lessons"]["problems"]) if "-09-" in file["file"]]
    found = lessons_of(tmp_path / "run")
    assert max(len(lesson.values) for lesson in found if lesson.problem == large) > 10
    told = result.load().provenance["teacher"]
    assert told["name"] == "gripper" and told["problems"] == 3
    assert told["states"] == sum(len(lesson.values) for lesson in found)


def test_the_problems_that_are_held_out_are_not_practised_on(tmp_path: Path) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 3, 4], 0)
    run_tiny(tmp_path / "pddl", tmp_path / "run", None, steps=2)
    data = json.loads((tmp_path / "run" / "data.json").read_text())
    training = [file["file"] for file in data["files"] if file["role"] == "training"]
    assert [file["file"] for file in data["lessons"]["problems"]] == training and len(training) == 3
    with pytest.raises(TrifoldError, match="cannot practise on what is held out"):
        run_tiny(tmp_path / "pddl", tmp_path / "other", tmp_path / "pddl" / "train", steps=2)


def test_what_is_held_out_is_not_practised_on_though_it_is_too_large_to_be_labelled(tmp_path: Path) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2], 0)
    (large,) = write_problems(tmp_path / "pddl", "gripper", [9], 0, split="validation")
    write_problems(tmp_path / "pddl", "gripper", [3], 0, split="validation")
    (tmp_path / "practice").mkdir()
    shutil.copy(large, tmp_path / "practice" / "p.pddl")
    with pytest.raises(TrifoldError, match="cannot practise on what is held out"):
        run_tiny(tmp_path / "pddl", tmp_path / "run", tmp_path / "practice", max_states=100)


def test_a_problem_that_is_practised_on_is_no_larger_problem_to_be_judged_on(tmp_path: Path) -> None:
    write_problems(tmp_path / "pddl", "gripper", [1, 2, 8, 9], 0)
    write_problems(tmp_path / "pddl", "gripper", [3], 0, split="validation")
    (tmp_path / "practice").mkdir()
    result = run_tiny(tmp_path / "pddl", tmp_path / "run", None, max_states=100, batch=4)
    assert result.larger is None
    write_problems(tmp_path / "practice", "gripper", [7], 1)
    result = run_tiny(tmp_path / "pddl", tmp_path / "other", tmp_path / "practice", max_states=100, batch=4)
    assert result.larger is not None and result.larger.problems == 2


def test_a_round_that_the_time_has_passed_teaches_nothing(
    folder: Path, teacher: Teacher, pupil: Model, tmp_path: Path
) -> None:
    lessons = Lessons(teacher, pupil, 0, tmp_path, 0)
    assert lessons.practise(1, 2, lambda: False) and len(lessons.given) == 2
    known, asked = lessons.states, itertools.count()
    assert not lessons.practise(2, 2, lambda: next(asked) > 15)
    assert (lessons.states, len(lessons.given), len(lessons.targets)) == (known, 2, known)
    assert Lessons(teacher, pupil, 0, tmp_path, 1).given == lessons.given  # nor is it recalled


def test_a_batch_without_room_for_what_is_taught_is_refused(folder: Path, practice: Path, tmp_path: Path) -> None:
    for changes in ({"batch": 1}, {"taught": 0.0}):
        with pytest.raises(TrifoldError, match="is no state that was taught"):
            run_tiny(folder, tmp_path / "run", practice, **changes)


def test_a_pupil_learns_from_a_teacher_what_labels_do_not_say(tmp_path: Path) -> None:
    """Its labels are of one ball; with a teacher it is nearer to what that one says of six."""
    write_problems(tmp_path / "pddl", "gripper", [1], 0, per_size=2)
    write_problems(tmp_path / "practice", "gripper", [6], 1, per_size=2)
    (other,) = write_problems(tmp_path / "other", "gripper", [6], 2)
    good = pretrained("gripper")
    problem = load_problem(good.domain, other)
    way = good.solve(problem, search=None).actions
    states = list(states_along(problem, way))
    errors = []
    for name in ("gripper", None):
        settings = {"teacher": name, "steps": 150, "validate_every": 150, "dim": 8, "learning_rate": 0.01}
        practice = tmp_path / "practice" if name else None
        model = run_tiny(tmp_path / "pddl", tmp_path / f"run-{name}", practice, **settings).load()
        errors.append(float((model.values(states) - good.values(states)).abs().mean()))
    assert errors[0] < errors[1] / 2
    problem.release()


def test_an_actions_pupil_has_a_teacher_without_values_and_another_encoder(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = TINY | {"heads": "actions", "steps": 3}
    teacher = train(folder, tmp_path / "teacher", "small", **options, merge=True, encoder="plain").run
    with pytest.raises(TrifoldError, match="the teacher has no V"):
        run_tiny(folder, tmp_path / "run", None, teacher=teacher)
    result = run_tiny(folder, tmp_path / "run", None, teacher=teacher, heads="actions", merge=True)
    assert result.load().provenance["teacher"]["name"] == str(teacher / "model.safetensors")
    assert {value for lesson in lessons_of(tmp_path / "run") for value in lesson.values} == {0.0}


def test_weights_that_were_taught_are_kept_and_not_those_before(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([0.1, 0.2, 0.5, 0.9])
    measure = validate

    def pretend(*arguments: Any) -> Any:
        found = measure(*arguments)
        return type(found)(next(losses), found.error, found.optimal)

    monkeypatch.setattr(loop, "validate", pretend)
    changes: dict[str, Any] = {"steps": 20, "rounds": 1, "keep_by": "loss", "alone": 0.6}
    kept = run_tiny(folder, tmp_path / "run", practice, **changes).load()
    assert kept.provenance["selected"] | {"seconds": 0} == {
        "step": 15, "validation_loss": 0.5, "seconds": 0, "lapses": 0,
        **{name: kept.provenance["selected"][name] for name in ("solved", "problems", "length")},
    }  # fmt: skip
    states = [TrainingState(best=0.9, best_rounds=1, best_solved=1), TrainingState(best=0.1, best_solved=3)]
    for keep_by in ("loss", "policy"):
        assert min(states, key=lambda state: state.rank(keep_by)) is states[0]


class Listener(Watcher):
    """Remembers the beginning of each round."""

    def __init__(self) -> None:
        self.begun: list[Progress] = []

    def progress(self, progress: Progress) -> None:
        self.begun += [progress] if progress.practises else []


def test_rounds_come_with_the_time_where_that_ends_a_training(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at the watch takes a hundredth of a second here, and practice looks at it, too."""
    looks = itertools.count()
    for module in (loop, together):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(looks) / 100))
    seen = Listener()
    run_tiny(folder, tmp_path / "run", practice, steps=10**6, minutes=0.5, watcher=seen)
    begun = seen.begun
    lines = RunFolder(tmp_path / "run").seed(0).metrics()
    assert begun and begun[0].taught == 0 and lines[-1]["taught"] > 0
    first = next(line["seconds"] for line in lines if line["taught"])
    assert all(line["seconds"] < 30 * 0.4 + 2 for line in lines if not line["taught"]) and first > 30 * 0.4


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "of another domain": ({"teacher": "logistics"}, "does not fit the domain gripper-strips"),
    "that scores nothing": ({"teacher": "gripper-values"}, "the teacher scores no actions"),
    "that there is not": ({"teacher": "griper"}, "did you mean gripper"),
    "for values alone": ({"heads": "values"}, "this one has values alone"),
    "without a name": ({"teacher": None}, "a pupil practises where there is a teacher"),
    "with too large a share": ({"taught": 1.0}, "taught is a share"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_teacher_is_refused(folder: Path, practice: Path, tmp_path: Path, case: str) -> None:
    changes, message = REFUSALS[case]
    with pytest.raises(TrifoldError, match=message):
        run_tiny(folder, tmp_path / "run", practice, **changes)
    assert not (tmp_path / "run" / "config.json").exists()


def test_test_problems_and_problems_of_other_domains_are_refused(folder: Path, tmp_path: Path) -> None:
    for split in ("train", "test"):
        write_problems(tmp_path / "pddl", "gripper", [1, 2], 3, split=split)
    with pytest.raises(TrifoldError, match="nothing is learned from test problems"):
        run_tiny(tmp_path / "pddl", tmp_path / "run", tmp_path / "pddl" / "test")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "p.pddl").write_text(
        "(define (problem p) (:domain gripper-strips) (:init (on a b)) (:goal ()))"
    )
    with pytest.raises(TrifoldError):
        run_tiny(folder, tmp_path / "run", tmp_path / "odd")


def test_several_processes_have_no_teacher() -> None:
    with pytest.raises(TrifoldError, match="a pupil has a teacher in one process, and not in 2"):
        prepare._check_ranks(Ranks(0, 2), Settings(), {"teacher": "gripper"})


def test_a_run_does_not_go_on_with_another_teacher_or_other_problems(
    folder: Path, practice: Path, tmp_path: Path
) -> None:
    places = {"practice": tmp_path / "practice", "teacher": tmp_path / "teacher.safetensors"}
    shutil.copytree(practice, places["practice"])
    pretrained("gripper").save(places["teacher"])
    run_tiny(folder, tmp_path / "run", places["practice"], teacher=places["teacher"], steps=9)
    first = min((places["practice"] / "train").glob("gripper*"))
    text, model = first.read_text(), places["teacher"].read_bytes()
    first.write_text(text + "\n")
    with pytest.raises(TrifoldError, match="the teacher or its practice problems have changed"):
        resume(tmp_path / "run", steps=12)
    first.write_text(text)
    pretrained("gripper").save(places["teacher"], torch.float16)
    with pytest.raises(TrifoldError, match="the teacher or its practice problems have changed"):
        resume(tmp_path / "run", steps=12)
    places["teacher"].write_bytes(model)
    assert resume(tmp_path / "run", steps=12).steps == 12


DAMAGES = {
    "a field": lambda line: line | {"more": 1},
    "a value": lambda line: line | {"values": ["x"]},
    "fewer values": lambda line: line | {"values": []},
    "a place": lambda line: line | {"good": [[999], *line["good"][1:]]},
    "a problem": lambda line: line | {"problem": 99},
    "an action": lambda line: line | {"actions": ["(fly)", *line["actions"][1:]]},
}


@pytest.fixture(scope="module")
def taught(folder: Path, practice: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    run = tmp_path_factory.mktemp("taught") / "run"
    run_tiny(folder, run, practice, steps=9)
    yield run


@pytest.mark.parametrize("damage", DAMAGES)
def test_lessons_that_are_damaged_are_refused(taught: Path, tmp_path: Path, damage: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(taught, run)
    file = run / "seed-0" / "lessons.jsonl"
    first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(DAMAGES[damage](json.loads(first))), *rest]))
    with pytest.raises(TrifoldError, match=r"is not a lesson|a lesson is damaged"):
        resume(run, steps=12)


def test_a_pupil_whose_weights_are_lost_does_not_practise(
    folder: Path, practice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taught when it has its best weights again."""
    steps = itertools.count(1)

    class BadStep(TrainingStep):
        def __call__(self, number: int) -> Tensor:
            loss = super().__call__(number)
            return loss * math.nan if next(steps) == 7 else loss

    monkeypatch.setattr(loop, "TrainingStep", BadStep)
    seen = Listener()
    run_tiny(folder, tmp_path / "run", practice, steps=20, recover=True, alone=0.35, watcher=seen)
    assert seen.begun[0].step == 10 and lessons_of(tmp_path / "run")[-1].round == 3
