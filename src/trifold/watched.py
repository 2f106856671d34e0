"""Training for programs: with the display of the command line, or with a function that is told how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from trifold.cluster import Cluster
from trifold.ladder import Climbed, ClimbWatcher
from trifold.ladder import climb as climb_ladder
from trifold.ladder import resume_climb as resume_ladder
from trifold.processes import Workers
from trifold.studies import Studied
from trifold.studies import study as do_study
from trifold.training import Progress, Recipe, TrainingResult, Value
from trifold.training import resume as resume_run
from trifold.training import train as train_run

Listener = Callable[[Progress], object]


def train(
    directory: Path | str,
    run: Path | str,
    recipe: Recipe | Path | str | None = None,
    *,
    progress: bool | Listener = False,
    device: str = "auto",
    workers: Workers | None = None,
    teacher: Path | str | None = None,
    practice: Path | str | None = None,
    **changes: Value,
) -> TrainingResult:
    """Learn a general policy from the problems of a folder: ``training.train``, with its progress.

    recipe     as for ``training.train``: None is "fast" on a GPU, and else "laptop"
    progress   True shows on standard error what `trifold train` does; a function is called with each ``Progress``
    teacher    as for ``training.train``: a model that says what is good where the policy goes in ``practice``
    changes    values that differ from the recipe's, such as steps=500 or t=2; ``training.SECTIONS`` has all keys

    >>> steps = []
    >>> result = train("gripper", "runs/watched", "small", steps=2, progress=lambda told: steps.append(told.step))
    >>> result.steps, steps[-1], result.load()  # of gripper/domain.pddl and its problems
    (2, 2, Model(R-GNN[1] for gripper-strips, k 32, L 12, V, 137,697 parameters))
    """
    with _watcher(progress) as watcher:
        asked: dict[str, Any] = {"device": device, "workers": workers, "watcher": watcher}
        return train_run(directory, run, recipe, teacher=teacher, practice=practice, **asked | changes)


def resume(
    run: Path | str,
    *,
    progress: bool | Listener = False,
    steps: int | None = None,
    minutes: float | None = None,
    device: str | None = None,
    workers: Workers | None = None,
) -> TrainingResult:
    """Go on with a run from its last save, to the end that was asked for or to another one: ``training.resume``.

    >>> run = train("gripper", "runs/resumed", "small", steps=2).run  # of gripper/domain.pddl and its problems
    >>> resume(run, steps=3).steps
    3
    """
    with _watcher(progress) as watcher:
        return resume_run(run, steps=steps, minutes=minutes, device=device, workers=workers, watcher=watcher)


def climb(
    directory: Path | str,
    run: Path | str,
    recipe: Recipe | Path | str | None = None,
    *,
    judge: Path | str | None = None,
    every: bool = False,
    progress: bool | Listener = False,
    device: str = "auto",
    workers: Workers | None = None,
    **changes: Value,
) -> Climbed:
    """Learn a policy by the cheapest architecture that is as good as the best: ``ladder.climb``, with its progress.

    judge     a folder of larger problems to judge architectures by; without one it takes what the data has
    every     whether architectures are trained, too, that are dearer than one that solves all with near-optimal plans
    progress  as for ``train``
    changes   as for ``train``, but for encoder, t, dim and layers

    >>> found = climb("gripper", "runs/auto", "small", steps=60, judge="problem.pddl")  # of gripper/domain.pddl, …
    >>> found.rungs[0].rung.name, found.rungs[0].steps, found.fell_back
    ('plain-32-16', 60, False)
    """
    with _watcher(progress) as watcher:
        asked: dict[str, Any] = {"judge": judge, "every": every, "device": device, "workers": workers, **changes}
        return climb_ladder(directory, run, recipe, watcher=watcher, **asked)


def resume_climb(
    run: Path | str,
    *,
    judge: Path | str | None = None,
    every: bool = False,
    progress: bool | Listener = False,
    steps: int | None = None,
    minutes: float | None = None,
    device: str | None = None,
    workers: Workers | None = None,
) -> Climbed:
    """Go on with a climb from its last save, to the end that was asked for or to another one, or judge it anew."""
    with _watcher(progress) as watcher:
        asked: dict[str, Any] = {"judge": judge, "every": every, "device": device, "workers": workers}
        return resume_ladder(run, steps=steps, minutes=minutes, watcher=watcher, **asked)


def study(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    *,
    progress: bool = False,
    domains: Sequence[str] = (),
    recipes: Sequence[str] = (),
    workers: Cluster | int | None = None,
    device: str | None = None,
    **changes: Value,
) -> Studied:
    """Train and evaluate a grid of recipes, seeds and domains, and go on with what was begun: ``studies.study``.

    source            a TOML file, or what such a file says
    out               the folder of all that comes of it
    progress          True shows on standard error what `trifold study` does
    domains, recipes  only these of the study's
    workers           steps that are done at once; one per core if None, or one per training where these are fewer; or a
                      cluster that was joined
    device            instead of those of the study, for trainings and evaluations
    changes           values that differ in all recipes, such as steps=500

    >>> asked = {"domains": ["./gripper"], "recipes": ["small"], "tests": {"seen": "train"}}
    >>> found = study(asked, "studied", steps=2)  # of gripper/domain.pddl and its problems
    >>> [(cell.name, cell.outcome, cell.tried) for cell in found.cells]
    [('gripper small seed 0', 'done', 3)]
    """
    from trifold.commands import show_study

    with show_study() if progress else nullcontext() as watcher:
        asked: dict[str, Any] = {"domains": domains, "recipes": recipes, "workers": workers, "device": device}
        return do_study(source, out, **asked | changes | {"watcher": watcher})


class _Told(ClimbWatcher):
    def __init__(self, listener: Listener) -> None:
        self.listener = listener

    def progress(self, progress: Progress) -> None:
        self.listener(progress)


@contextmanager
def _watcher(progress: bool | Listener) -> Iterator[ClimbWatcher | None]:
    if progress is True:
        from trifold.commands import show_training

        with show_training() as shown:
            yield shown
    else:
        yield _Told(progress) if progress else None
