"""Labelling and encoding all states of a problem for R-GNN[1], against pymimir alone expanding them.

    python benchmarks/labelling.py [--problem P --domain D] [--repetitions N] [--json]

One thread, one process, repetitions interleaved. README.md beside this file says what is compared.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from instance import Instance, add_instance_options, note, read_instance
from trifold.bench.report import duration, facts_text
from trifold.bench.timing import Timing, conditions, timed, use_threads
from trifold.data import LabelLimits, label
from trifold.encoders import Pairs, encode_all
from trifold.evaluation import aligned_text
from trifold.pddl import StateSpace, expand, load_domain, load_problem
from trifold.pddl.expansion import expand_with_pymimir

MAX_STATES = 10_000_000

PHASES = {
    "pymimir": "pymimir alone: expand",
    "expand_with_pymimir": "trifold: expand and label by pymimir's search",
    "extract": "  of it, beyond pymimir: read, extract states, V*",
    "expand": "trifold: expand and label by packed search",
    "structures": "trifold: structures",
    "encode": "trifold: encode for R-GNN[1]",
    "total": "trifold: all of it",
    "label": "trifold: label in a child process, save, load",
    "total_isolated": "trifold: all of it, labelled so",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_instance_options(parser, "blocks-s", 7)
    parser.add_argument("--repetitions", type=int, default=5, help="how often each is measured (default: 5)")
    parser.add_argument("--json", action="store_true", help="write the result to standard output as JSON")
    arguments = parser.parse_args()
    use_threads(1)
    instance = read_instance(arguments)

    rounds: list[dict[str, Any]] = []
    for measured in measure(instance, arguments.repetitions):
        note(f"repetition {len(rounds) + 1} of {arguments.repetitions}: {measured['seconds']}")
        rounds.append(measured)
    timings = {name: Timing(tuple(measured["seconds"][name] for measured in rounds)) for name in PHASES}
    ratios = {name: timing.median / timings["pymimir"].median for name, timing in timings.items()}
    about = {"problem": instance.name} | rounds[0]["sizes"] | conditions()
    if arguments.json:
        phases = {name: timing.to_json() | {"ratio": ratios[name]} for name, timing in timings.items()}
        print(json.dumps({"benchmark": "labelling", "about": about, "phases": phases}, indent=2))
        return
    header = ["phase", "median", "min", "max", "times pymimir"]
    rows = [
        [PHASES[name], *map(duration, (timing.median, timing.least, timing.most)), f"{ratios[name]:.2f}"]
        for name, timing in timings.items()
    ]
    print(facts_text(about))
    print(aligned_text([header, *rows], names=1), end="")


def measure(instance: Instance, repetitions: int) -> Iterator[dict[str, Any]]:
    """Measure everything once per repetition, one after the other."""
    with TemporaryDirectory() as folder:
        domain, problem = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        domain.write_text(instance.domain.text, encoding="utf-8")
        problem.write_text(instance.problem.text, encoding="utf-8")
        for _ in range(repetitions):
            yield measure_once(instance, domain, problem)


def measure_once(instance: Instance, domain: Path, problem: Path) -> dict[str, Any]:
    """Seconds of each phase, and the sizes of what was computed."""
    states, pymimir_seconds = search_with_pymimir(instance)
    reference_seconds, reference = timed(lambda: expand_with_pymimir(domain, problem, MAX_STATES))
    del reference
    expand_seconds, space = timed(lambda: expand(domain, problem, MAX_STATES))
    if len(space) != states:
        raise SystemExit(f"pymimir found {states:,} states, trifold {len(space):,}")
    if space.engine != "packed":
        raise SystemExit("packed search refuses this problem: give one without conditional effects and derived atoms")
    structures_seconds, structures = timed(space.structures)
    encode_seconds, encoded = timed(partial(encode_all, Pairs(1), structures))
    sizes = {
        "objects": len(space.objects),
        "states": states,
        "transitions": len(space.targets),
        "triangles": len(encoded.atoms("@triangle")),
        "encoded bytes": encoded.nbytes,
    }
    del space, structures, encoded
    label_seconds, _ = timed(lambda: label_in_child(domain, problem))
    rest = structures_seconds + encode_seconds
    seconds = {
        "pymimir": pymimir_seconds,
        "expand_with_pymimir": reference_seconds,
        "extract": reference_seconds - pymimir_seconds,
        "expand": expand_seconds,
        "structures": structures_seconds,
        "encode": encode_seconds,
        "total": expand_seconds + rest,
        "label": label_seconds,
        "total_isolated": label_seconds + rest,
    }
    return {"sizes": sizes, "seconds": {name: round(number, 4) for name, number in seconds.items()}}


def search_with_pymimir(instance: Instance) -> tuple[int, float]:
    """How many states pymimir finds, and how long it takes without parsing the problem or reading any state."""
    from pymimir.advanced import datasets

    context = load_problem(load_domain(instance.domain), instance.problem).engine.context
    options = datasets.StateSpaceOptions()
    options.max_num_states = MAX_STATES
    options.symmetry_pruning = False
    seconds, created = timed(lambda: datasets.StateSpace.create(context, options))
    if created is None:
        raise SystemExit(f"the problem has more than {MAX_STATES:,} states, or no plan")
    return created[0].get_graph().get_num_vertices(), seconds


def label_in_child(domain: Path, problem: Path) -> StateSpace:
    """Label as ``trifold train`` does, without a cache."""
    [labelled] = label(domain, [problem], limits=LabelLimits(max_states=MAX_STATES))
    if labelled.space is None:
        raise SystemExit(f"{labelled.outcome}: {labelled.message}")
    return labelled.space


if __name__ == "__main__":
    main()
