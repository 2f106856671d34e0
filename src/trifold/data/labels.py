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
from trifold.files import open_regular, read_text, sweep, temporary_folder, write_whole
from trifold.limits import LabelLimits
from trifold.outcomes import Outcome
from trifold.pddl import VERSION, StateSpace, load_domain
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
    digest     a hash of its text
    outcome    labelled, state limit, timeout, memory limit, crash, unsolvable (no plan from the initial state) or bad
               input
    message    what went wrong, in words
    space      the labelled states, if the outcome is labelled
    states     how many states the problem has
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

    What fails of a problem is named, not raised; what is wrong with the domain, or with the cache, is raised.

    workers      child processes at a time, or a cluster; None is one per core
    cache        folder of results that were computed before; None computes everything
    on_progress  is called with each problem as it is done
    """
    limits = limits or LabelLimits()
    loaded = load_domain(Path(domain))
    domain_source, constants = loaded.source, loaded.description.named_constants
    done: dict[int, Labelled] = {}
    digests: dict[int, str] = {}

    def finish(index: int, labelled: Labelled) -> None:
        done[index] = replace(labelled, digest=digests.get(index, ""))
        if on_progress is not None:
            on_progress(done[index])

    with temporary_folder() if cache is None else nullcontext(_make_folder(cache)) as folder:
        indices, jobs, entries = [], [], []
        for index, path in enumerate(map(Path, problems)):
            try:
                problem_source = (read_text(path), str(path))
            except TrifoldError as error:
                finish(index, Labelled(path, Outcome.BAD_INPUT, message=str(error)))
                continue
            digests[index] = hashlib.sha256(problem_source[0].encode()).hexdigest()
            entry = folder / cache_key(domain_source.text, problem_source[0], limits, constants)
            known = _look_up(path, entry)
            if known is not None:
                finish(index, known)
                continue
            indices.append(index)
            entries.append(entry)
            jobs.append(
                {
                    "domain": domain_source,
                    "problem": problem_source,
                    "max_states": limits.max_states,
                    "keep": limits.keep,
                    "detour": limits.detour,
                    "path": str(_space_file(entry)),
                }
            )
        bounds = Limits(limits.seconds, limits.memory_gib)
        with closing(run_isolated(FUNCTION, jobs, workers=workers, limits=bounds, files=FILES)) as results:
            for result in results:
                index = indices[result.job]
                finish(index, _keep(Path(problems[index]), entries[result.job], result))
    return [done[index] for index in range(len(problems))]


def default_cache() -> Path:
    """Where labels are kept: $TRIFOLD_CACHE, or trifold in $XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("TRIFOLD_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trifold"


def cache_key(domain: str, problem: str, limits: LabelLimits, constants: Sequence[str] = ()) -> str:
    """The name of a cache entry: a hash of all that its content depends on.

    ``constants`` that rules name follow from the domain; entries older than their relations do not have them.
    """
    parts = [domain, problem, asdict(limits), VERSION, version("pymimir"), *constants]
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
