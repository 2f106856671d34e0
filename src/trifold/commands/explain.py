"""`trifold explain`: why a policy does what it does on a problem, and what to do about it."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands import options
from trifold.commands.progress import when_interrupted
from trifold.commands.solve import check_files, read_files, show_steps
from trifold.limits import LABEL_SECONDS, LABEL_STATES, MAX_STEPS

if TYPE_CHECKING:
    from trifold.explanation import Explanation

LabelStates = Annotated[
    int, typer.Option("--max-states", min=0, help="Find V* of problems with at most so many states; 0: of none.")
]
LabelTimeout = Annotated[
    float,
    typer.Option(
        "--label-timeout", metavar="SECONDS", min=0.0, max=1e9, help="For how long V* is looked for, and then a plan."
    ),
]


def explain(
    model: options.ModelFile,
    files: Annotated[
        list[Path], typer.Argument(metavar="[DOMAIN] PROBLEM", help="A PDDL problem, after another text of its domain.")
    ],
    domain: options.DomainFile = None,
    policy: options.PolicyName = None,
    strict: options.Strict = False,
    top: Annotated[int, typer.Option("--top", min=1, help="How many of the best actions of a state to show.")] = 3,
    everything: Annotated[bool, typer.Option("--all", help="Show all steps, not only those worth a look.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw V and V* along the way: a PNG, SVG or PDF, by the suffix.")
    ] = None,
    max_steps: options.MaxSteps = MAX_STEPS,
    max_states: LabelStates = LABEL_STATES,
    label_timeout: LabelTimeout = LABEL_SECONDS,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    device: options.Device = "auto",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say what a policy does on a problem, what would have been best, why it ended, and what to try next.

    Along the way: V, V* where the problem is small enough to label, the best actions with their scores (or V of the
    states that they lead to), which one was chosen and whether it is optimal. Then what the problem has that training
    never had, and what the evidence speaks for: situations that training lacks, dead ends, an architecture that is too
    weak, or too few steps.

    The exit code is 0 whenever there is an explanation, whether the problem was solved or not.
    """
    from trifold.explanation import ExplainJob, picture_format
    from trifold.shipped import best_policy, find_model

    model_file, (domain, problem) = find_model(model), read_files(files, domain)
    check_files([model_file, problem, *([domain] if domain else [])], plot)
    kind = None if plot is None else picture_format(plot)
    name = options.choose_policy(policy, strict) or best_policy(model_file)
    given = str(model_file), str(problem), str(domain) if domain else None
    job = ExplainJob(*given, name, max_steps, max_states, label_timeout, device, timeout, memory)
    found = replace(_ask(asdict(job), timeout, memory, quiet), model_file=model, problem_file=str(problem))
    if plot is not None and kind is not None:
        _draw(found, plot, kind)
    typer.echo(_json(found) if json else _text(found, top, everything))


def _ask(job: dict[str, Any], timeout: float | None, memory: float | None, quiet: bool) -> Explanation:
    """The explanation that a child process makes; if it does not, say why, and end."""
    from trifold.explanation import Explanation
    from trifold.processes import Limits, run_isolated

    with when_interrupted("interrupted"), show_steps(quiet) as on_event:
        (result,) = run_isolated(
            "trifold.explanation.job:explain_job",
            [job],
            workers=1,
            limits=Limits(timeout, memory),
            on_event=lambda index, event: on_event(event),
        )
    if result.error:
        typer.echo(f"error: {result.error}", err=True)
        raise typer.Exit(result.outcome.exit_code)
    return Explanation.from_json(result.value or {})


def _draw(found: Explanation, plot: Path, kind: str) -> None:
    from trifold.explanation import plot_explanation
    from trifold.files import write_whole

    write_whole(plot, plot_explanation(found, kind))


def _json(found: Explanation) -> str:
    from trifold.explanation import advise

    advice = [asdict(one) for one in advise(found)]
    return json_format.dumps(found.to_json() | {"advice": advice}, indent=2, allow_nan=False)


def _text(found: Explanation, top: int, everything: bool) -> str:
    from trifold.explanation import explanation_text

    return explanation_text(found, top=top, everything=everything)
