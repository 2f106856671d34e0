"""Problems drawn so that no two are alike, and whole splits of them.

The problems of a domain are drawn in a fixed order, tests first, then training. One that is isomorphic to an earlier
one, but for the names of objects, is drawn again with the next number of its own seed. So is a validation problem that
has the base of a training problem: the same objects, static atoms and goal, again but for names. So no problem of one
split is in another, no state of a validation problem is one of a training problem, and what is trained on never changes
the tests. Where a size has fewer problems than a split asks for, the split repeats one; where two splits would have to
share one, drawing them fails, so the domains keep such sizes apart (as Gripper does, where a size is a base).

Everything is a function of the seed and the options. What takes long is the first draw of each problem, which does not
depend on other problems: it can be made beforehand, in any order and any process, as a ``Draft``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any

from trifold.domains.catalogue import DOMAINS, domain_text
from trifold.domains.generator import SPLITS, Options, Split
from trifold.domains.isomorphism import base, certificate, read_structure, varying_predicates

SEED = 0
"""The seed of the suite ``paper``."""
DRAWS = 200
"""How often a problem is drawn until it is unlike all others."""
ORDER: tuple[Split, ...] = ("test", "train", "validation")
"""In which order splits are drawn: each is unlike those before it."""
FIRST_DRAWS = {
    "gripper/0/train/3": 1,
    "grid/0/train/9": 2,
    "grid/0/train/10": 1,
    "grid/0/train/165": 1,
    "grid/0/train/1697": 1,
}
"""Problems of the frozen suite that have a later number than the first that is unlike all others, from when validation
was drawn before training."""


@dataclass(frozen=True)
class Drawn:
    """A problem: the name of its file, with its number in the split and its size, its text and how many objects."""

    file: str
    text: str
    objects: int


@dataclass(frozen=True)
class Task:
    """A problem to draw: of which domain, seed and split, its number there, and the options of the generator."""

    domain: str
    seed: int
    split: str
    number: int
    options: Options

    @property
    def place(self) -> str:
        """What its random numbers are seeded with, but for the number of the draw."""
        return f"{self.domain}/{self.seed}/{self.split}/{self.number}"


@dataclass(frozen=True)
class Draft:
    """One draw of a problem: its text, how many objects it has, its certificate, and its base's where it counts."""

    text: str
    objects: int
    certificate: str
    base: str | None


NO_DRAFTS: Mapping[str, Draft] = {}
_varying = cache(varying_predicates)


def split_sizes(name: str, split: Split) -> list[Options]:
    """The options of each problem of a split of a domain."""
    if DOMAINS[name].suite is None:
        raise ValueError(f"{name} has no splits of its own: give a size, or how many problems")
    return DOMAINS[name].sizes(split)


def list_tasks(name: str, problems: Iterable[Options], seed: int, split: str = "") -> list[Task]:
    """A problem to draw for each of the options."""
    return [Task(name, seed, split, number, options) for number, options in enumerate(problems, start=1)]


def first_seed(task: Task) -> str:
    """What the random numbers of the first draw of a problem are seeded with."""
    return f"{task.place}/{FIRST_DRAWS.get(task.place, 0)}"


def make_draft(task: Task, attempt: int | None = None) -> Draft:
    """Draw a problem for the first time, or with the number of an attempt."""
    seed = first_seed(task) if attempt is None else f"{task.place}/{attempt}"
    rng = random.Random(seed)
    if seed in (skips := known_skips()):
        rng.getrandbits(32 * skips[seed])
    text = DOMAINS[task.domain].generate(rng, **task.options)
    has_base = task.split in ("train", "validation")
    return _recognise(text, _varying(domain_text(task.domain)) if has_base else None)


@cache
def known_skips() -> dict[str, int]:
    """How many random words the rejected draws of a problem of the suite take, by its seed, where they are many.

    Grid and Rovers draw a problem until it is as asked for. The words of draws that are known to be rejected are
    skipped at once; the problem is the same. `experiments/skips.py` counts them.
    """
    text = files("trifold.domains").joinpath("suite_skips.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@lru_cache(maxsize=4096)  # where a size has few problems, the same are drawn again and again
def _recognise(text: str, varying: frozenset[str] | None) -> Draft:
    structure = read_structure(text)
    base_key = None if varying is None else certificate(base(structure, varying))
    return Draft(text, len(structure.objects), certificate(structure), base_key)


def draft_job(job: dict[str, Any], report: object) -> dict[str, Any]:
    """What runs in a child process: the drafts of some tasks by their places; what cannot be drawn is left out."""
    drafts = {}
    for task in (Task(**fields) for fields in job["tasks"]):
        with suppress(ValueError):  # whoever needs the draft draws again, and says what is wrong
            drafts[task.place] = asdict(make_draft(task))
    return drafts


def draw_splits(
    name: str,
    seed: int = SEED,
    splits: Sequence[Split] = SPLITS,
    on_problem: Callable[[], object] | None = None,
    drafts: Mapping[str, Draft] = NO_DRAFTS,
) -> dict[str, list[Drawn]]:
    """Draw splits of a domain, with the sizes of its ``suite``; all of them if not told which.

    on_problem  is called when a problem is drawn, also for a split that is only to be unlike
    drafts      as for ``draw_problems``
    """
    for split in splits:
        if not split_sizes(name, split):
            raise ValueError(f"{name} has no split {split}")
    taken: dict[str, str] = {}
    trained: set[str] = set()
    drawn: dict[Split, list[Drawn]] = {}
    for split in drawn_for(splits):
        sizes = split_sizes(name, split)
        drawn[split] = draw_problems(name, sizes, seed, split, taken, trained, on_problem, drafts)
    return {split: drawn[split] for split in SPLITS if split in splits}


def drawn_for(splits: Iterable[Split]) -> tuple[Split, ...]:
    """The splits that have to be drawn for these: they, and those before them."""
    return ORDER[: max(map(ORDER.index, splits)) + 1]


def draw_problems(
    name: str,
    problems: Iterable[Options],
    seed: int,
    split: str = "",
    taken: dict[str, str] | None = None,
    trained: set[str] | None = None,
    on_problem: Callable[[], object] | None = None,
    drafts: Mapping[str, Draft] = NO_DRAFTS,
) -> list[Drawn]:
    """Draw a problem for each of the options, unlike each other where there are enough of them.

    taken       the certificates of the problems drawn before, each with its split; those of the new ones are added
    trained     the certificates of bases that no validation problem may have; those of training problems are added
    on_problem  is called when a problem is drawn
    drafts      first draws by the places of their tasks, where these were made beforehand
    """
    taken = {} if taken is None else taken
    trained = set() if trained is None else trained
    drawn = []
    for task in list_tasks(name, problems, seed, split):
        draft = drafts.get(task.place) or make_draft(task)
        for attempt in range(FIRST_DRAWS.get(task.place, 0) + 1, DRAWS):
            if draft.certificate not in taken and not (split == "validation" and draft.base in trained):
                break
            draft = make_draft(task, attempt)
        if split == "validation" and draft.base in trained:
            raise ValueError(f"{name}: every problem of the {split} split with {task.options} has states of training")
        if taken.setdefault(draft.certificate, split) != split:
            raise ValueError(
                f"{name}: every problem of the {split} split with {task.options} "
                f"is in that of {taken[draft.certificate]} too"
            )
        if split == "train" and draft.base is not None:
            trained.add(draft.base)
        size = [f"{option}-{value}" for option, value in islice(task.options.items(), 2)]  # the first two tell it
        file = "-".join([name, f"{task.number:03d}", *size])
        drawn.append(Drawn(f"{file}.pddl", draft.text, draft.objects))
        if on_problem is not None:
            on_problem()
    return drawn


def base_certificate(name: str, problem: str) -> str:
    """Give the same text for problems of a domain that may share states."""
    return certificate(base(read_structure(problem), _varying(domain_text(name))))
