"""`trifold solve`: one problem, one plan, and V along the way."""

from __future__ import annotations

import json as json_format
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands import options
from trifold.commands.progress import when_interrupted
from trifold.errors import TRY, TrifoldError
from trifold.limits import KNOWN_STATES, MAX_STEPS
from trifold.outcomes import Outcome
from trifold.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from trifold.evaluation import Attempt

Validate = Annotated[
    bool, typer.Option("--validate", help="Ask Unified Planning's validator about the plan, too (the extra up).")
]

OnEvent = Callable[[dict[str, Any]], None]

LONG_SECONDS = 30.0
"""Without a plan after this time, and without a --timeout, it is said that it may go on."""

LONG = (
    "the search goes on until there is one, none can be, or it knows --max-states states; "
    "--timeout SECONDS bounds it, and Ctrl-C ends it"
)

NO_MODEL = "none"
"""In place of a model: the search alone."""


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file, or the name of a shipped model: see `trifold models`; none: search without a model.",
    ),
]
Files = Annotated[
    list[Path], typer.Argument(metavar="[DOMAIN] PROBLEM", help="A PDDL problem, after another text of its domain.")
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where to write the plan; standard output if not given.")
]


def solve(
    model: Model,
    files: Files,
    domain: options.DomainFile = None,
    output: Output = None,
    policy: options.PolicyName = None,
    strict: options.Strict = False,
    search: options.Search = "turns",
    max_steps: options.MaxSteps = MAX_STEPS,
    max_states: options.KnownStates = KNOWN_STATES,
    improve: options.Improve = None,
    validate: Validate = False,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    device: options.Device = "auto",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Solve a problem by a policy, the best that the model has or another --policy, and then by search.

    By actions, a step takes the best-scored action whose successor was not visited. By values, it goes to the unvisited
    successor with the least V, as the paper does. A policy that ends without a plan is followed by a --search, which
    remembers what the policy has seen and ends with a plan, with the proof that there is none, or at a limit.

    The model carries its domain, so DOMAIN, or --domain, is needed only to use another text of it. Where MODEL is none,
    there is a search alone, by relaxed plans and by what is missing of the goal; if not given, DOMAIN is then the one
    beside the problem. The plan is replayed by an engine of its own before it is called solved.

    Exit codes: 0 solved, 2 bad input, 3 step limit, 4 stuck, 5 cycle (--strict), 6 timeout, 7 memory limit, 8 crash,
    9 invalid plan, 10 disagreement of two engines about the plan, 11 unsolvable, 12 state limit (--max-states), 13 no
    plan, 130 interrupted.
    """
    from trifold.evaluation import SolveJob, attempt_each
    from trifold.processes import Limits

    domain, problem = read_files(files, domain)
    model_file, domain, name = _choose(model, problem, domain, options.choose_policy(policy, strict), search)
    check_files([file for file in (model_file, problem, domain) if file is not None], output, validate)
    job = SolveJob(
        str(model_file) if model_file else None,
        str(problem),
        str(domain) if domain else None,
        name,
        max_steps,
        device,
        search=options.choose_search(search),
        max_states=max_states,
        improve=improve,
        timeout=timeout,
        validate=validate,
        threads=1 if name == "actions" else None,  # one look is small, and threads that wait for each other are slow
    )
    with when_interrupted("interrupted; no plan was written"), show_steps(quiet) as show:
        on_event, on_wait = (show, None) if job.search is None or timeout is not None else _say_when_long(show)
        (attempt,) = attempt_each([job], limits=Limits(timeout, memory), on_event=on_event, on_wait=on_wait)
    if attempt.trajectory.outcome is Outcome.BAD_INPUT and attempt.error:
        raise attempt.error
    _tell(attempt, output, json, quiet)
    raise typer.Exit(attempt.trajectory.outcome.exit_code)


def _choose(
    model: str, problem: Path, domain: Path | None, policy: str | None, search: str
) -> tuple[Path | None, Path | None, str | None]:
    """The files of the model and of the domain, and the policy: without a model, none but one that is asked for."""
    from trifold.shipped import best_policy, find_model

    if model != NO_MODEL or Path(model).is_file():
        file = find_model(model)
        return file, domain, policy or best_policy(file)
    if search == "none" and policy is None:
        raise typer.BadParameter("without a model there is a search alone: leave --search none out, or give a model")
    return None, domain or _own_domain(problem), policy


def _own_domain(problem: Path) -> Path:
    """The domain beside a problem, or one folder up."""
    from trifold.pddl import find_domain

    found = find_domain(problem)
    if found is None:
        raise TrifoldError(
            "there is no domain.pddl beside the problem or in the folder above, and no model that carries one",
            place=str(problem),
            remedy="give it before the problem: trifold solve none DOMAIN PROBLEM",
        )
    return found


def read_files(files: Sequence[Path], domain: Path | None) -> tuple[Path | None, Path]:
    """The domain, if one is given, and the problem."""
    if len(files) > 2 or (len(files) == 2 and domain is not None):
        raise typer.BadParameter("give one problem, and before it one domain at most")
    return (files[0] if len(files) == 2 else domain), files[-1]


def check_files(files: Sequence[Path], output: Path | None, validate: bool = False) -> None:
    """Raise if a file cannot be opened, or the plan not be written or validated: better said before all else."""
    from trifold.files import MOST_DATA_BYTES, open_file

    for file in files:
        with open_file(file, MOST_DATA_BYTES):
            pass
    if output is not None and not output.parent.is_dir():
        raise TrifoldError("there is no such folder", place=str(output.parent), remedy="make it, or give another -o")
    if validate and find_spec("unified_planning") is None:
        raise TrifoldError("--validate needs Unified Planning", remedy='pip install "trifold[up]", or leave it out')


def _terminal() -> Console | None:
    """The terminal that standard error is, if it is one; elsewhere rich, which takes a while to load, is not needed."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False)
    return console if console.is_terminal else None


@contextmanager
def show_steps(quiet: bool) -> Iterator[OnEvent]:
    """A listener that shows each step on standard error: one live line on a terminal, plain lines elsewhere."""
    console = _terminal()
    with console.status("loading") if console and not quiet else nullcontext() as status:

        def update(line: str) -> None:
            if status:
                from rich.text import Text

                status.update(Text(line))
            else:
                typer.echo(line, err=True)

        def listen(event: dict[str, Any]) -> None:
            match event["event"]:
                case "warning":
                    line = f"warning: {event['message']}"
                case "ready" if not quiet:
                    who = f"{event['model']} on {event['device']}" if event["model"] else "no model"
                    line = f"{who}: {event['domain']}, {event['objects']} objects"
                case "long" if not quiet:
                    line = f"no plan after {LONG_SECONDS:g} s: {LONG}"
                case "step" if not quiet:
                    value = f"V {event['value']:.2f}  " if math.isfinite(event["value"]) else ""
                    line = f"step {event['number']}  {value}{event['action'] or 'start'}"
                    return update(line)
                case "labelling" if not quiet:
                    line = "looking for V*"
                    return update(line)
                case _:
                    return None
            return console.print(line) if console and status else typer.echo(line, err=True)

        yield listen


def _say_when_long(show: OnEvent) -> tuple[OnEvent, Callable[[], None]]:
    """What to call with each event, and while there is none: it shows once that no plan has been found for long."""
    began, is_done = time.monotonic(), False

    def listen(event: dict[str, Any]) -> None:
        nonlocal is_done
        is_done = is_done or event["event"] == "plan"
        show(event)

    def wait() -> None:
        nonlocal is_done
        if not is_done and time.monotonic() - began >= LONG_SECONDS:
            is_done = True
            show({"event": "long"})

    return listen, wait


def _tell(attempt: Attempt, output: Path | None, json: bool, quiet: bool) -> None:
    """Write the plan, and say what came of the attempt."""
    from trifold.planning import plan_text, write_plan

    plan = attempt.trajectory.plan
    if plan is not None and output is not None:
        write_plan(output, plan)
    if attempt.doubt and attempt.validated is None:
        typer.echo(f"warning: the plan was not validated: {attempt.doubt}", err=True)
    if not quiet or plan is None:
        typer.echo(_summary(attempt), err=True)
    if json:
        typer.echo(json_format.dumps(_machine_form(attempt, output), indent=2))
    elif plan is not None and output is None:
        typer.echo(plan_text(plan), nl=False)


def _summary(attempt: Attempt) -> str:
    trajectory = attempt.trajectory
    by = "" if trajectory.found_by is None else f" by {trajectory.found_by}"
    parts = [f"{trajectory.outcome.value}{by} after {counted(trajectory.steps, 'step')}"]
    if trajectory.plan is not None and len(trajectory.plan) != trajectory.steps:
        before = "" if trajectory.found_length is None else f", {trajectory.found_length} before it was improved"
        parts.append(f"a plan of {len(trajectory.plan)}{before}")
    if trajectory.values and math.isfinite(trajectory.values[0] + trajectory.values[-1]):
        parts.append(f"V from {trajectory.values[0]:.2f} to {trajectory.values[-1]:.2f}")
    if trajectory.evaluated:
        parts.append(f"{counted(trajectory.evaluated, 'state')} evaluated")
    if trajectory.known is not None:
        parts.append(f"{counted(trajectory.known, 'state')} known")
    if attempt.validated:
        parts.append("valid for Unified Planning, too")
    if attempt.peak_gib is not None:
        parts.append(f"{attempt.peak_gib:.2f} GiB")
    parts.append(f"{attempt.seconds:.1f} s")
    if trajectory.seconds_per_step is not None:
        parts.append(f"{trajectory.seconds_per_step:.3f} s per step")
    reason = f"\n{attempt.error}" if attempt.error else ""
    if trajectory.outcome is Outcome.STATE_LIMIT:
        reason += f"\n{TRY}a larger --max-states, another --search, or a model that was trained for the domain"
    return ", ".join(parts) + reason


def _machine_form(attempt: Attempt, output: Path | None) -> dict[str, Any]:
    trajectory = attempt.trajectory
    return {
        **(attempt.about or {}),
        "outcome": trajectory.outcome.value,
        "exit_code": trajectory.outcome.exit_code,
        "warnings": attempt.warnings,
        "message": str(attempt.error) if attempt.error else None,
        "actions": trajectory.actions,
        "values": [value if math.isfinite(value) else None for value in trajectory.values],
        "plan_file": str(output) if output and trajectory.plan is not None else None,
        "validated": attempt.validated,
        "doubt": attempt.doubt,
        "found_by": trajectory.found_by,
        "found_length": trajectory.found_length,
        "steps": trajectory.steps,
        "states_known": trajectory.known,
        "states_evaluated": trajectory.evaluated,
        "peak_gib": attempt.peak_gib,
        "seconds": attempt.seconds,
        "seconds_per_step": trajectory.seconds_per_step,
    }
