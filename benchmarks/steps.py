"""What a step of the models in the box takes on one CPU core, beside the floor of its arithmetic there.

    python benchmarks/steps.py [--case MODEL:PROBLEM ...] [--steps 100] [--seconds 1] [--json]

Each model follows its policy by scores of actions for some steps of a problem: of a file, with domain.pddl beside it or
one folder up, or of a generated one, the same in every run. README.md beside this file says what is compared.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median

from instance import note
from trifold.bench.compiled_look import check_scores
from trifold.bench.floors import floor_of_work
from trifold.bench.machine import Machine
from trifold.bench.recording import record_work
from trifold.bench.report import facts_text
from trifold.bench.timing import conditions, repeat, use_threads
from trifold.bench.work import count_work
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.evaluation import aligned_text
from trifold.expressions import Source, open_source
from trifold.model import Model, NativeModel
from trifold.native import obstacle
from trifold.nn import BACKENDS, RGNN
from trifold.pddl import Problem, State, find_domain, load_domain, load_problem
from trifold.planning import solve
from trifold.shipped import find_model

PROBLEMS: dict[str, dict[str, int]] = {
    "blocks-s": {"blocks": 17},
    "logistics": {"cities": 18, "packages": 7, "locations": 2, "single": 0, "settled": 0, "loaded": 0},
    "rovers": {"rovers": 3, "waypoints": 29, "soil": 6, "rock": 6, "images": 6, "cameras": 4, "objectives": 5},
    "visitall": {"width": 9, "height": 9},
}
"""Small, middle and large states, of the sizes of the paper's test problems: 17, 80, 48 and 81 objects."""

STATES, REPEATS = 6, 3
"""States along the way whose looks are timed, and how often the way is taken."""


@dataclass(frozen=True)
class Paced:
    """What a step takes, in seconds: all of it, the look at the state alone, and the floor of that look's arithmetic.

    written  the floor of Algorithm 1 as the paper writes it, with the first layer of messages hoisted
    least    the same, or that of what is computed once equal elements are merged, if it is less
    """

    model: str
    problem: str
    objects: int
    steps: int
    step: float
    look: float
    written: float
    least: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", metavar="MODEL:PROBLEM", help="a file, or the name of a domain")
    parser.add_argument("--steps", type=int, default=100, help="that the policy takes at most (default: 100)")
    parser.add_argument("--seconds", type=float, default=1.0, help="about how long a look is timed (default: 1)")
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    use_threads(1)
    found = []
    try:
        if (reason := obstacle()) is not None:
            raise TrifoldError(f"there is no compiled library here: {reason}")
        for text in arguments.case or [f"{name}:{name}" for name in PROBLEMS]:
            found.append(measure(*read_case(text), arguments.steps, arguments.seconds))
            note(str(found[-1]))
    except TrifoldError as error:
        note(str(error))
        raise SystemExit(error.exit_code) from None
    if arguments.json:
        print(
            json.dumps({"benchmark": "steps", "about": conditions(), "cases": [asdict(one) for one in found]}, indent=2)
        )
        return
    print(facts_text(conditions()))
    print(table(found), end="")


def read_case(text: str) -> tuple[str, str, Source, Source]:
    """The model, the problem's name, and its domain and itself as PDDL."""
    model, colon, place = text.partition(":")
    if not colon:
        raise TrifoldError("this is no case", place=text, remedy="write MODEL:PROBLEM")
    if place in DOMAINS:
        drawn = DOMAINS[place].generate(random.Random(0), **PROBLEMS.get(place, {}))
        return model, f"{place}, generated", Source(domain_text(place), "the domain"), Source(drawn, "the problem")
    domain = find_domain(Path(place).parent)
    if domain is None:
        raise TrifoldError("there is no domain.pddl here or in the folder above", place=place)
    return model, Path(place).name, open_source(domain, "domain"), open_source(Path(place), "problem")


def measure(model: str, name: str, domain: Source, problem: Source, steps: int, seconds: float) -> Paced:
    """Follow the policy a few times, each in a problem that was read anew, and time looks at states of its way."""
    torch_model, native = Model.load(find_model(model)), NativeModel.load(find_model(model))
    torch_model.backend = BY_TORCH
    if native is None or not native.scores_actions:
        raise TrifoldError("the compiled library scores no actions by this model", place=model)
    ways, tasks = [], [load_problem(load_domain(domain), problem) for _ in range(REPEATS)]
    for task in tasks:
        ways.append(solve(task, native.values, looks=native.look, policy="actions", max_steps=steps))
    states = ways[-1].states[:: max(1, len(ways[-1].states) // STATES)][:STATES]
    looks, written, least = zip(
        *(look(torch_model, native, tasks[-1], state, seconds) for state in states), strict=True
    )
    pace = median(way.seconds_per_step or 0.0 for way in ways)
    return Paced(model, name, len(tasks[-1].objects), ways[-1].steps, pace, mean(looks), mean(written), mean(least))


MACHINE = Machine("cpu", 0.3)
BY_TORCH = next(backend for backend in BACKENDS[RGNN] if backend.name == "cpu")
"""What merges and hoists as the compiled library does, and whose products can be counted."""


def look(
    model: Model, native: NativeModel, problem: Problem, state: State, seconds: float
) -> tuple[float, float, float]:
    """The seconds of a look at a state, and its floors: as it is written, and the least that is known."""
    actions = [action for action, _ in problem.successors(state)]
    check_scores(native.look(state, actions)[1], model.look(state, actions)[1])
    structure, _ = model.ask([state], [actions])
    encoded = model.queried(structure)
    done = record_work(lambda: model.read(encoded))
    written = count_work(model.network.eval(), encoded, hoisted=True)
    floors = [floor_of_work(work, MACHINE, training=False).seconds for work in (written, done)]
    timing = repeat(lambda: native.look(state, actions), seconds / STATES)
    return timing.median, floors[0], min(floors)


def table(found: Sequence[Paced]) -> str:
    """A line for each case, in milliseconds, and how many times its floors the step and the look take."""
    header = [
        "",
        "problem",
        "objects",
        "steps",
        "ms a step",
        "of it the look",
        "floor",
        "merged",
        "step / floor",
        "/ merged",
    ]
    rows = []
    for one in found:
        times = [f"{1000 * seconds:.2f}" for seconds in (one.step, one.look, one.written, one.least)]
        ratios = [f"{one.step / floor:.2f}" for floor in (one.written, one.least)]
        rows.append([one.model, one.problem, str(one.objects), str(one.steps), *times, *ratios])
    return aligned_text([header, *rows], names=2)


if __name__ == "__main__":
    main()
