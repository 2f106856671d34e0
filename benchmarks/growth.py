"""How seconds, milliseconds a step and memory grow with a problem, by the planner as a whole and by LAMA's first plan.

    python benchmarks/growth.py [--domain NAME ...] [--timeout 300] [--memory 8] [--records FILE] [--picture FILE.svg]

Blocks-s with up to 500 blocks, Logistics with up to 100 cities, Gripper with up to 1,000 balls: one problem of each
size, the same in every run. Each is given to the model of the domain as `trifold solve` uses it, and to LAMA, one after
the other, each in a fresh process with one thread. A domain is gone on with until neither solves a size. Records are
those of `trifold evaluate` and `trifold reference --first`; what they hold is not run again.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instance import note
from trifold.bench.lama import choose_planner
from trifold.bench.report import facts_text
from trifold.bench.timing import conditions, use_threads
from trifold.commands.evaluate import describe_attempt
from trifold.domains import DOMAINS, domain_text
from trifold.errors import TrifoldError
from trifold.evaluation import Record, aligned_text, evaluate, find_first_plans
from trifold.files import temporary_folder, write_whole
from trifold.outcomes import Outcome
from trifold.pictures import PAGE, add_legend, look, spell_logarithm
from trifold.pictures import picture as draw_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZES: dict[str, tuple[str, list[dict[str, int]]]] = {
    "blocks-s": ("blocks", [{"blocks": number} for number in (20, 50, 100, 200, 500)]),
    "logistics": (
        "cities",
        [
            {"cities": number, "packages": number // 2, "locations": 2, "single": 0, "settled": 0, "loaded": 0}
            for number in (20, 50, 100)
        ],
    ),
    "gripper": ("balls", [{"balls": number} for number in (100, 200, 500, 1000)]),
}
"""Of each domain what its sizes count, and the settings of its generator."""

MAX_STEPS = 100_000
"""Of a policy: a thousand balls take three thousand."""

OURS, LAMA = "Trifold", "LAMA"


@dataclass(frozen=True)
class Grown:
    """What one planner did with one size."""

    domain: str
    size: int
    by: str
    record: Record

    @property
    def is_solved(self) -> bool:
        """Whether it has a plan."""
        return bool(self.record["outcome"] == Outcome.SOLVED)

    @property
    def step_milliseconds(self) -> float | None:
        """Of a step of the policy; of a planner that takes none, nothing."""
        each = self.record["seconds_per_step"]
        return None if each is None or self.by == LAMA else 1000 * each


COSTS: dict[str, Callable[[Grown], float | None]] = {
    "seconds": lambda one: one.record["seconds"],
    "milliseconds a step": lambda one: one.step_milliseconds,
    "GiB": lambda one: one.record.get("peak_gib"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", action="append", choices=SIZES, help="may be given several times (default: all)")
    parser.add_argument("--most", type=int, help="the largest size that is tried")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for each attempt (default: 300)")
    parser.add_argument("--memory", type=float, default=8.0, help="GiB for each attempt (default: 8)")
    parser.add_argument("--records", type=Path, default=Path("growth.jsonl"), help="(default: growth.jsonl)")
    parser.add_argument("--picture", type=Path, help="an SVG of seconds, milliseconds a step and memory over size")
    parser.add_argument("--planner", type=Path, help="a fast-downward.py (default: that of up-fast-downward)")
    arguments = parser.parse_args()
    use_threads(1)
    limits = {"timeout": arguments.timeout, "memory_gib": arguments.memory, "records": arguments.records}
    found: list[Grown] = []
    try:
        planner = choose_planner(arguments.planner)
        for name in arguments.domain or SIZES:
            found += grow(name, planner, limits, arguments.most or math.inf)
    except TrifoldError as error:
        note(str(error))
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        note(f"interrupted; {arguments.records} keeps what is done, the same command goes on from there")
        raise SystemExit(130) from None
    print(facts_text({"timeout": f"{arguments.timeout:g} s", "memory": f"{arguments.memory:g} GiB"} | conditions()))
    print(table(found), end="")
    if arguments.picture:
        write_whole(arguments.picture, picture(found))


def grow(name: str, planner: Path | None, limits: dict[str, Any], most: float) -> list[Grown]:
    """Give the sizes of a domain to both, smaller ones first, each as long as it has solved the one before."""
    key, sizes = SIZES[name]
    found, going = list[Grown](), {OURS, *([LAMA] if planner else [])}
    with temporary_folder() as place:
        domain = Path(place) / "domain.pddl"
        domain.write_text(domain_text(name), encoding="utf-8")
        for settings in sizes:
            size = settings[key]
            problem = Path(place) / f"{name}-{size}.pddl"
            problem.write_text(DOMAINS[name].generate(random.Random(0), **settings), encoding="utf-8")
            for by in (OURS, LAMA):
                if by not in going or size > most:
                    continue
                found.append(Grown(name, size, by, attempt(by, name, problem, domain, planner, limits)))
                note(f"{name}, {size} {key}, {by}: {describe_attempt(found[-1].record)}")
                if not found[-1].is_solved:
                    going.discard(by)
    return found


def attempt(by: str, name: str, problem: Path, domain: Path, planner: Path | None, limits: dict[str, Any]) -> Record:
    """The record of one attempt, old or new."""
    if by == LAMA:
        (record,) = find_first_plans([problem], domain, planner=planner, workers=1, **limits)
    else:
        settings: dict[str, Any] = {"policy": "actions", "search": "turns", "max_steps": MAX_STEPS}
        (record,) = evaluate(name, [problem], domain=domain, device="cpu", workers=1, **settings, **limits)
    return record


def exponent(pairs: Sequence[tuple[float, float]]) -> float:
    """The slope of the line through the logarithms of sizes and costs, by least squares; NaN of less than two.

    >>> round(exponent([(10, 3), (100, 300), (1000, 30_000)]), 3)
    2.0
    """
    if len(pairs) < 2:
        return math.nan
    xs, ys = ([math.log(pair[side]) for pair in pairs] for side in (0, 1))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def costs(found: Sequence[Grown], domain: str, by: str, what: str) -> list[tuple[float, float]]:
    """Of each size that was solved, what it cost, one of ``COSTS``; what is unknown is left out."""
    rows = [one for one in found if (one.domain, one.by) == (domain, by) and one.is_solved]
    return [(one.size, cost) for one in rows if (cost := COSTS[what](one))]


def table(found: Sequence[Grown]) -> str:
    """A line for each attempt, and one with the exponents of each planner in each domain."""
    header = ["", "size", "by", "outcome", "plan", "seconds", "ms / step", "peak GiB"]
    rows = []
    for domain in dict.fromkeys(one.domain for one in found):
        for one in found:
            if one.domain == domain:
                plan, each, peak = one.record["plan_length"], one.step_milliseconds, one.record.get("peak_gib")
                numbers = [f"{one.record['seconds']:.2f}", "-" if each is None else f"{each:.2f}"]
                told = [str(one.size), one.by, one.record["outcome"], "-" if plan is None else str(plan)]
                rows.append([domain, *told, *numbers, "-" if peak is None else f"{peak:.2f}"])
        for by in (OURS, LAMA):
            powers = [exponent(costs(found, domain, by, what)) for what in COSTS]
            if not all(map(math.isnan, powers)):
                spelled = ["-" if math.isnan(power) else f"^ {power:.2f}" for power in powers]
                rows.append([domain, "all", by, "exponent", "", *spelled])
    return aligned_text([header, *rows], names=4)


def picture(found: Sequence[Grown]) -> bytes:
    """An SVG: a row for each domain; over its size, on logarithmic axes, seconds, milliseconds a step and memory.

    What was not solved is a cross at the seconds that were spent on it. Exponents stand above.
    """
    domains = list(dict.fromkeys(one.domain for one in found))

    def draw(figure: Figure) -> None:
        for row, axes in enumerate(figure.subplots(len(domains), len(COSTS), squeeze=False)):
            for what, own in zip(COSTS, axes, strict=True):
                panel(own, [one for one in found if one.domain == domains[row]], domains[row], what)
        lines = {str(line.get_label()): line for axes in figure.axes for line in axes.lines}
        add_legend(figure, list(lines.values()), list(lines))

    return draw_picture(draw, "svg", PAGE, 1.9 * len(domains) + 0.3)


def panel(axes: Axes, found: Sequence[Grown], domain: str, what: str) -> None:
    """Draw what the sizes of one domain cost."""
    powers = []
    for number, by in enumerate((OURS, LAMA)):
        if pairs := costs(found, domain, by, what):
            axes.plot(*zip(*pairs, strict=True), label=by, **look(number))
            if not math.isnan(power := exponent(pairs)):
                powers.append(f"{by} n^{power:.1f}")
        failed = [one for one in found if one.by == by and not one.is_solved]
        if what == "seconds" and failed:
            spent = [one.record["seconds"] for one in failed]
            colour = look(number)["color"]
            axes.plot([one.size for one in failed], spent, "x", color=colour, markersize=7, label=f"{by}, no plan")
    sizes = sorted({one.size for one in found})
    axes.set(xscale="log", yscale="log", xlabel=f"{domain}: {SIZES[domain][0]}", ylabel=what)
    axes.set_title(", ".join(powers))
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, high / 20), high)  # what hardly grows looks so
    axes.minorticks_off()
    spell_logarithm(axes.yaxis)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])


if __name__ == "__main__":
    main()
