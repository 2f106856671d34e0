"""Labels: the state spaces of many problems, expanded in parallel in child processes and cached on disk.

>>> (labelled,) = label("gripper/domain.pddl", ["problem.pddl"])
>>> labelled.outcome.value, labelled.states, labelled.max_distance
('labelled', 28, 6)
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trifold.errors import TrifoldError
from trifold.files import open_regular, read_bytes, read_text, sweep, temporary_folder, write_whole
from trifold.limits import LabelLimits
from trifold.outcomes import Outcome
from trifold.pddl import VERSION, Domain, StateSpace, load_domain
from trifold.processes import Files, Limits, Result, Workers, run_isolated
from trifold.sealed import MAX_BYTES, SEAL, check_seal, parse_object, seal, write_object

FUNCTION = "trifold.pddl.expansion:expand_to_file"
FILES = Files(writes=("path",))

CACHED_FAILURES = (Outcome.STATE_LIMIT, Outcome.TIMEOUT, Outcome.MEMORY_LIMIT, Outcome.UNSOLVABLE)
"""Outcomes that would come again under the same limits. Bad input is quick to find, and crashes may be luck."""


@dataclass(frozen=True)
class Labelled:
    """What became of one problem.

    path       the problem's file
    digest     a hash of its text, and of the plan around which it is labelled
    outcome    labelled, state limit, timeout, memory limit, crash, unsolvable (no plan from the initial state) or bad
               input
    message    what went wrong, in words
    space      the labelled states, if the outcome is labelled
    states     how many states the problem has; if it is labelled around a plan, of how many V is known
    kept       how many of them the space holds
    seconds    how long the expansion took, also if it was done before and cached
    cached     whether it was done before
    """

    path: Path
    outcome: Outcome
    digest: str = ""
    message: str = ""
    states: int = 0
    kept: int = 0
    dead_ends: int = 0
    max_distance: int = -1
    seconds: float = 0.0
    cached: bool = False
    space: StateSpace | None = None


def label(
    domain: str | Path,
    problems: Sequence[str | Path],
    *,
    limits: LabelLimits | None = None,
    workers: Workers | None = None,
    cache: Path | None = None,
    on_progress: Callable[[Labelled], None] | None = None,
) -> list[Labelled]:
    """Label the state spaces of problems of one domain, in the order given.

    What fails of a problem is named, not raised; what is wrong with the domain, or with the cache, is raised. A problem
    that has more states than the limit is labelled around a plan, if there is one beside it: p1.plan beside p1.pddl.

    workers      child processes at a time, or a cluster; None is one per core
    cache        folder of results that were computed before; None computes everything
    on_progress  is called with each problem as it is done
    """
    limits = limits or LabelLimits()
    loaded = load_domain(Path(domain))
    done: dict[int, Labelled] = {}

    def finish(index: int, labelled: Labelled, digest: str = "") -> None:
        done[index] = replace(labelled, digest=digest)
        if on_progress is not None:
            on_progress(done[index])

    with temporary_folder() if cache is None else nullcontext(_make_folder(cache)) as folder:
        waiting: list[tuple[int, _Sheet]] = []
        for index, path in enumerate(map(Path, problems)):
            try:
                sheet = _Sheet.read(path)
            except TrifoldError as error:
                finish(index, Labelled(path, Outcome.BAD_INPUT, message=str(error)))
                continue
            sheet, known = sheet.look_up(loaded, limits, folder)
            if known is None:
                waiting.append((index, sheet))
            else:
                finish(index, known, sheet.digest(known))
        common = {"max_states": limits.max_states, "keep": limits.keep, "detour": limits.detour}
        jobs = [{"domain": loaded.source, **common, **sheet.to_job()} for _, sheet in waiting]
        bounds = Limits(limits.seconds, limits.memory_gib)
        with closing(run_isolated(FUNCTION, jobs, workers=workers, limits=bounds, files=FILES)) as results:
            for result in results:
                index, sheet = waiting[result.job]
                labelled = _keep(sheet.path, sheet.entry, result)
                finish(index, labelled, sheet.digest(labelled))
    return [done[index] for index in range(len(problems))]


@dataclass(frozen=True)
class _Sheet:
    """A problem that is to be labelled.

    text   of its file
    plan   the text of the plan beside it, p1.plan beside p1.pddl, around which it is labelled if it is too large
    entry  in the cache
    """

    path: Path
    text: str
    plan: str | None
    entry: Path = Path()

    @classmethod
    def read(cls, path: Path) -> _Sheet:
        """Read the files of a problem."""
        plan = path.with_suffix(".plan")
        return cls(path, read_text(path), read_bytes(plan).decode(errors="replace") if plan.is_file() else None)

    def look_up(self, domain: Domain, limits: LabelLimits, folder: Path) -> tuple[_Sheet, Labelled | None]:
        """The problem with its entry in the cache, and what that knows; without its plan where that is of no use."""
        parts = domain.source.text, self.text, limits, domain.description.named_constants
        entry = folder / cache_key(*parts)
        known = _look_up(self.path, entry)
        if self.plan is None or (known is not None and known.outcome is not Outcome.STATE_LIMIT):
            return replace(self, plan=None, entry=entry), known
        entry = folder / cache_key(*parts, self.plan)
        return replace(self, entry=entry), _look_up(self.path, entry)

    def digest(self, labelled: Labelled) -> str:
        """A hash of what its labels were made of."""
        is_bound = labelled.space is not None and labelled.space.is_bound
        return hashlib.sha256((self.text + (f"\0{self.plan}" if is_bound else "")).encode()).hexdigest()

    def to_job(self) -> dict[str, Any]:
        """Its part of a job."""
        plan = None if self.plan is None else (self.plan, str(self.path.with_suffix(".plan")))
        return {"problem": (self.text, str(self.path)), "plan": plan, "path": str(_space_file(self.entry))}


def default_cache() -> Path:
    """Where labels are kept: $TRIFOLD_CACHE, or trifold in $XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("TRIFOLD_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trifold"


def cache_key(
    domain: str,
    problem: str,
    limits: LabelLimits,
    constants: Sequence[str] = (),
    plan: str | None = None,
) -> str:
    """The name of a cache entry: a hash of all that its content depends on.

    ``constants`` that rules name follow from the domain; entries older than their relations do not have them. The
    ``plan`` is the text of one around which it is labelled.
    """
    parts = [domain, problem, asdict(limits), VERSION, version("pymimir"), *constants]
    parts += [] if plan is None else [{"plan": plan}]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _look_up(path: Path, entry: Path) -> Labelled | None:
    """What the cache knows of a problem; nothing if the entry is missing or damaged."""
    try:
        with open_regular(_facts_file(entry)) as file:
            content = file.read(MAX_BYTES)
        facts = parse_object(content)
        check_seal(facts.pop(SEAL, None), content)
        return _labelled(path, entry, facts, cached=True)
    except (FileNotFoundError, ValueError, KeyError, TypeError, TrifoldError):
        return None
    except OSError as error:
        raise TrifoldError(
            f"the cache cannot be read: {error.strerror}",
            place=str(_facts_file(entry)),
            remedy="make it readable, remove it, or set TRIFOLD_CACHE to another folder",
        ) from error


def _keep(path: Path, entry: Path, result: Result) -> Labelled:
    """What became of a problem, kept in the cache if it would come again."""
    if result.error and result.error.place == str(_space_file(entry)):
        raise result.error  # the cache cannot be written: every problem would fail
    failure = {"outcome": result.outcome, "message": result.message}
    facts = (failure if result.error else result.value or {}) | {"seconds": result.seconds}
    labelled = _labelled(path, entry, facts)
    if labelled.space is not None or labelled.outcome in CACHED_FAILURES:
        write_whole(_facts_file(entry), seal(write_object(facts).encode()))
    return labelled


def _labelled(path: Path, entry: Path, facts: dict[str, Any], cached: bool = False) -> Labelled:
    """The facts of a problem, and the states that are in a file of their own."""
    outcome = Outcome(facts["outcome"])
    space = StateSpace.load(_space_file(entry)) if outcome is Outcome.LABELLED else None
    return Labelled(path, **facts | {"outcome": outcome}, cached=cached, space=space)


def _space_file(entry: Path) -> Path:
    return entry.with_suffix(".safetensors")


def _facts_file(entry: Path) -> Path:
    return entry.with_suffix(".json")


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrifoldError(
            f"the cache folder cannot be made: {error.strerror}", place=str(folder), remedy="set TRIFOLD_CACHE"
        ) from None
    sweep(folder)
    return folder
