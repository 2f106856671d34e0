"""`trifold solve`: one problem, one plan, and V along the way."""

from __future__ import annotations

import json as json_format
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands import options
from trifold.commands.progress import when_interrupted
from trifold.errors import TrifoldError
from trifold.limits import MAX_STEPS
from trifold.words import counted

if TYPE_CHECKING:
    from trifold.evaluation import Attempt


Search = Annotated[
    str,
    typer.Option(
        "--search",
        metavar="NAME",
        help="What follows a policy that ends without a plan, until there is one or none can be: greedy, by the model; "
        "turns, by the model, by relaxed plans and by what is missing of the goal, in turns; beam; module:function for "
        "your own. none: the policy alone, as `evaluate` has it.",
    ),
]
KnownStates = Annotated[
    int, typer.Option("--max-states", min=1, help="States that a search may know: a million take up to a GiB.")
]
Improve = Annotated[
    float | None,
    typer.Option("--improve", metavar="SECONDS", min=0.0, max=1e9, help="Look for a shorter plan for this long."),
]


def solve(
    model: options.ModelFile,
    files: Annotated[
        list[Path], typer.Argument(metavar="[DOMAIN] PROBLEM", help="A PDDL problem, after another text of its domain.")
    ],
    domain: options.DomainFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the plan; standard output if not given.")
    ] = None,
    policy: options.PolicyName = None,
    strict: options.Strict = False,
    search: Search = "turns",
    max_steps: options.MaxSteps = MAX_STEPS,
    max_states: KnownStates = 5_000_000,
    improve: Improve = None,
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

    The model carries its domain, so DOMAIN, or --domain, is needed only to use another text of it. The plan is replayed
    by an engine of its own before it is called solved.

    Exit codes: 0 solved, 2 bad input, 3 step limit, 4 stuck, 5 cycle (--strict), 6 timeout, 7 memory limit, 8 crash,
    9 invalid plan, 10 disagreement of two engines about the plan, 11 unsolvable, 12 state limit (--max-states), 13 no
    plan, 130 interrupted.
    """
    from trifold.evaluation import SolveJob, attempt_each
    from trifold.planning import Outcome
    from trifold.processes import Limits
    from trifold.shipped import best_policy, find_model

    model_file, (domain, problem) = find_model(model), read_files(files, domain)
    check_files([model_file, problem, *([domain] if domain else [])], output)
    name = options.choose_policy(policy, strict) or best_policy(model_file)
    files_given = str(model_file), str(problem), str(domain) if domain else None
    job = SolveJob(
        *files_given,
        name,
        max_steps,
        device,
        search=None if search == "none" else search,
        max_states=max_states,
        improve=improve,
        timeout=timeout,
        threads=1 if name == "actions" else None,  # one look is small, and threads that wait for each other are slow
    )
    with when_interrupted("interrupted; no plan was written"), show_steps(quiet) as on_event:
        (attempt,) = attempt_each([job], limits=Limits(timeout, memory), on_event=on_event)
    if attempt.trajectory.outcome is Outcome.BAD_INPUT and attempt.error:
        raise attempt.error
    _tell(attempt, output, json, quiet)
    raise typer.Exit(attempt.trajectory.outcome.exit_code)


def read_files(files: Sequence[Path], domain: Path | None) -> tuple[Path | None, Path]:
    """The domain, if one is given, and the problem."""
    if len(files) > 2 or (len(files) == 2 and domain is not None):
        raise typer.BadParameter("give one problem, and before it one domain at most")
    return (files[0] if len(files) == 2 else domain), files[-1]


def check_files(files: Sequence[Path], output: Path | None) -> None:
    """Raise if a file cannot be opened, or the plan not be written: better said before a process starts."""
    from trifold.files import MOST_DATA_BYTES, open_file

    for file in files:
        with open_file(file, MOST_DATA_BYTES):
            pass
    if output is not None and not output.parent.is_dir():
        raise TrifoldError("there is no such folder", place=str(output.parent), remedy="make it, or give another -o")


@contextmanager
def show_steps(quiet: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A listener that shows each step on standard error: one live line on a terminal, plain lines elsewhere."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, markup=False, highlight=False)
    with console.status("loading") if console.is_terminal and not quiet else nullcontext() as status:

        def listen(event: dict[str, Any]) -> None:
            match event["event"]:
                case "warning":
                    line = f"warning: {event['message']}"
                case "ready" if not quiet:
                    line = f"{event['model']} on {event['device']}: {event['domain']}, {event['objects']} objects"
                case "step" if not quiet:
                    value = f"V {event['value']:.2f}  " if math.isfinite(event["value"]) else ""
                    line = f"step {event['number']}  {value}{event['action'] or 'start'}"
                    if status:
                        return status.update(Text(line))
                case "labelling" if not quiet:
                    line = "looking for V*"
                    if status:
                        return status.update(line)
                case _:
                    return None
            return console.print(line) if status else typer.echo(line, err=True)

        yield listen


def _tell(attempt: Attempt, output: Path | None, json: bool, quiet: bool) -> None:
    """Write the plan, and say what came of the attempt."""
    from trifold.planning import plan_text, write_plan

    plan = attempt.trajectory.plan
    if plan is not None and output is not None:
        write_plan(output, plan)
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
    if trajectory.values and math.isfinite(trajectory.values[0]):
        parts.append(f"V from {trajectory.values[0]:.2f} to {trajectory.values[-1]:.2f}")
    if trajectory.evaluated is not None:
        parts.append(f"{counted(trajectory.evaluated, 'state')} evaluated")
    if trajectory.known is not None:
        parts.append(f"{trajectory.known} known")
    if attempt.peak_gib is not None:
        parts.append(f"{attempt.peak_gib:.2f} GiB")
    parts.append(f"{attempt.seconds:.1f} s")
    if trajectory.seconds_per_step is not None:
        parts.append(f"{trajectory.seconds_per_step:.3f} s per step")
    reason = f"\n{attempt.error}" if attempt.error else ""
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
        "found_by": trajectory.found_by,
        "found_length": trajectory.found_length,
        "steps": trajectory.steps,
        "states_known": trajectory.known,
        "states_evaluated": trajectory.evaluated,
        "peak_gib": attempt.peak_gib,
        "seconds": attempt.seconds,
        "seconds_per_step": trajectory.seconds_per_step,
    }
