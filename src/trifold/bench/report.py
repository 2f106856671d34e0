"""What a benchmark found: rows of timings beside their floors, as text or as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trifold.bench.floors import Floor
from trifold.bench.timing import Timing
from trifold.evaluation import aligned_text

HEADER = [
    "stage",
    "what",
    "median",
    "min",
    "max",
    "states/s",
    "floor",
    "bound",
    "× floor",
    "× least",
    "× done",
    "GFLOP/s",
    "speed",
]

LEGEND = """\
floor: Algorithm 1 as written, nothing padded, at the rates of this machine measured in this run: products (and on a CPU
Mish), or memory's bandwidth where that takes longer. A training step counts its products three times. × least: over the
floor with the first layer of each message MLP done once per element and position. × done: over the floor of the
products and Mish that were in fact computed, where a network takes short cuts and does less than is written. GFLOP/s:
of the products that were computed.
"""


@dataclass(frozen=True)
class Measurement:
    """One thing that was timed, or why it was not.

    states   how many states a call works on
    floor    of Algorithm 1 as it is written
    least    with the first layer of message MLPs hoisted, where that differs
    done     of the arithmetic that was in fact computed, where that may be less
    against  another row and its timing, which this one's is compared with
    note     what else is to be said, or why there is no timing
    """

    stage: str
    what: str
    timing: Timing | None = None
    states: int | None = None
    floor: Floor | None = None
    least: Floor | None = None
    done: Floor | None = None
    against: tuple[str, Timing] | None = None
    note: str = ""

    @property
    def speed(self) -> float | None:
        """How many times as fast as what it is compared with."""
        return self.against[1].median / self.timing.median if self.against and self.timing else None

    def cells(self) -> list[str]:
        """The cells of its line in the table."""
        if self.timing is None:
            return [self.stage, self.what, *["-"] * (len(HEADER) - 2)]
        median, floor, done = self.timing.median, self.floor, self.done or self.floor
        return [
            self.stage,
            self.what,
            *map(duration, (median, self.timing.least, self.timing.most)),
            f"{self.states / median:,.0f}" if self.states else "",
            duration(floor.seconds) if floor else "",
            floor.bound if floor else "",
            times(median / floor.seconds) if floor else "",
            times(median / self.least.seconds) if self.least else "",
            times(median / self.done.seconds) if self.done else "",
            f"{done.flops / median / 1e9:,.1f}" if done and done.flops else "",
            f"{times(self.speed)} × {self.against[0]}" if self.against and self.speed else "",
        ]

    def to_json(self) -> dict[str, Any]:
        """The row as JSON."""
        timing, floor, least, done = self.timing, self.floor, self.least, self.done
        computed = done or floor
        return {
            "stage": self.stage,
            "what": self.what,
            "seconds": timing.to_json() if timing else None,
            "states": self.states,
            "states_per_second": self.states / timing.median if timing and self.states else None,
            "floor": floor.to_json() if floor else None,
            "least_floor": least.to_json() if least else None,
            "done_floor": done.to_json() if done else None,
            "times_floor": timing.median / floor.seconds if timing and floor else None,
            "times_least_floor": timing.median / least.seconds if timing and least else None,
            "times_done_floor": timing.median / done.seconds if timing and done else None,
            "flops_per_second": computed.flops / timing.median if timing and computed and computed.flops else None,
            "against": self.against[0] if self.against else None,
            "speed": self.speed,
            "note": self.note,
        }


@dataclass(frozen=True)
class Report:
    """A whole run: what was measured, the conditions, the sizes of its inputs, the machine's rates, and the rows."""

    settings: dict[str, Any]
    conditions: dict[str, Any]
    sizes: dict[str, Any]
    rates: dict[str, float]
    rows: list[Measurement] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The whole report as JSON."""
        return {
            "settings": self.settings,
            "conditions": self.conditions,
            "sizes": self.sizes,
            "rates": self.rates,
            "rows": [row.to_json() for row in self.rows],
        }

    def to_text(self) -> str:
        """The report as a table, with what its columns mean."""
        facts = {"settings": self.settings, "conditions": self.conditions} | self.sizes
        notes = [f"{row.stage}, {row.what.strip()}: {row.note}\n" for row in self.rows if row.note]
        table = aligned_text([HEADER, *(row.cells() for row in self.rows)], names=2)
        rates = {name: f"{rate:.3g}" for name, rate in self.rates.items()}
        return "\n".join([facts_text(facts), table + "".join(notes), LEGEND, facts_text(rates)])


def times(ratio: float) -> str:
    """A ratio with as many digits as it deserves.

    >>> times(1.234), times(12345.6)
    ('1.23', '12,346')
    """
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def duration(seconds: float) -> str:
    """Seconds with three digits and a unit.

    >>> duration(12.345), duration(0.0123), duration(4.56e-7)
    ('12.3 s', '12.3 ms', '0.456 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:#.3g}".rstrip(".") + f" {unit}"
    return f"{seconds / 1e-6:#.3g}".rstrip(".") + " µs"


def facts_text(facts: dict[str, Any]) -> str:
    """Facts as lines, what is nested within them on one.

    >>> facts_text({"states": 1234, "load": [0.5, 1.0], "versions": {"torch": "2.13"}}).splitlines()
    ['states: 1,234', 'load: 0.5, 1.0', 'versions: torch 2.13']
    """
    return "".join(f"{name}: {_plain(fact)}\n" for name, fact in facts.items())


def _plain(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
        case list() | tuple():
            return ", ".join(map(_plain, value))
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.1f}"
        case _:
            return str(value)
