"""`trifold explain`: why a policy does what it does on a problem, and what to do about it."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifold.commands import options
from trifold.commands.progress import when_interrupted
from trifold.commands.solve import Files, check_files, read_files, show_steps
from trifold.limits import LABEL_SECONDS, LABEL_STATES, MAX_STEPS

if TYPE_CHECKING:
    from trifold.explanation import ExplainJob, Explanation

LabelStates = Annotated[
    int, typer.Option("--max-states", min=0, help="Find V* of problems with at most so many states; 0: of none.")
]
LabelTimeout = Annotated[
    float,
    typer.Option(
        "--label-timeout", metavar="SECONDS", min=0.0, max=1e9, help="For how long V* is looked for, and then a plan."
    ),
]


Top = Annotated[int, typer.Option("--top", min=1, help="How many of the best actions of a state to show.")]
Everything = Annotated[bool, typer.Option("--all", help="Show all steps, not only those worth a look.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", help="Write a page that shows the way step by step; it opens in any browser, offline."),
]
Beside = Annotated[
    str | None,
    typer.Option(
        "--beside",
        metavar="MODEL|PLAN",
        help="A second way on the page: of another model, or a plan, of LAMA say, with what MODEL thinks of it.",
    ),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Draw V and V* along the way: a PNG, SVG or PDF, by the suffix.")
]


def explain(
    model: options.ModelFile,
    files: Files,
    domain: options.DomainFile = None,
    policy: options.PolicyName = None,
    strict: options.Strict = False,
    top: Top = 3,
    everything: Everything = False,
    html: Html = None,
    beside: Beside = None,
    plot: Plot = None,
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

    --html writes one file that needs no other: the states drawn, V and V* along the way, all actions, and the pairs of
    objects that R-GNN[t] composes; with arrow keys, a slider, and play. Two ways stand --beside each other.

    The exit code is 0 whenever there is an explanation, whether the problem was solved or not.
    """
    from trifold.explanation import ExplainJob
    from trifold.shipped import best_policy, find_model

    model_file, (domain, problem) = find_model(model), read_files(files, domain)
    if beside is not None and html is None:
        raise typer.BadParameter("--beside is for a page: give --html, too")
    other = None if beside is None else Path(beside) if _is_plan(beside) else find_model(beside)
    check_files([file for file in (model_file, problem, domain, other) if file is not None], html)
    kind = options.check_plot(plot)
    asked = options.choose_policy(policy, strict)
    texts = str(model_file), str(problem), str(domain) if domain else None
    name = asked or best_policy(model_file)
    job = ExplainJob(*texts, name, max_steps, max_states, label_timeout, device, timeout, memory_gib=memory)
    found = replace(_ask(job, quiet), model_file=model, problem_file=str(problem))
    if plot is not None:
        _draw(found, plot, kind)
    if html is not None:
        ways = [found, *([] if beside is None else [_explain_beside(job, beside, model, asked, quiet)])]
        _write_page(html, ways, model_file, domain, job)
    typer.echo(_json(found) if json else _text(found, top, everything))


def _is_plan(beside: str) -> bool:
    """Whether it is a file, and not a model's."""
    from trifold.shipped import SUFFIX

    return Path(beside).is_file() and Path(beside).suffix != SUFFIX


def _explain_beside(job: ExplainJob, beside: str, model: str, policy: str | None, quiet: bool) -> Explanation:
    """The second way: of a plan, or of another model by the same policy, or by its best if none was asked for."""
    from trifold.planning import read_plan
    from trifold.shipped import best_policy, find_model

    if _is_plan(beside):
        plan = tuple(read_plan(Path(beside)))
        given = replace(job, plan=plan, max_steps=max(job.max_steps, len(plan)))
        return replace(_ask(given, quiet), model_file=model, problem_file=job.problem, plan_file=beside)
    file = find_model(beside)
    given = replace(job, model=str(file), policy=policy or best_policy(file))
    return replace(_ask(given, quiet), model_file=beside, problem_file=job.problem)


def _write_page(html: Path, ways: list[Explanation], model: Path, domain: Path | None, job: ExplainJob) -> None:
    """Write the page that a child process makes, under the limits of an explanation."""
    from trifold.files import read_text, write_whole
    from trifold.model import open_checkpoint
    from trifold.pages import PageJob

    if domain is None:
        with open_checkpoint(model, "model") as file:
            source = file.header["domain"], "the model's domain"
    else:
        source = read_text(domain), str(domain)
    asked = PageJob(source, job.problem, tuple(one.to_json() for one in ways))
    page = _run("trifold.pages.job:page_job", asdict(asked), job, lambda event: None)["page"]
    write_whole(html, page.encode())


def _ask(job: ExplainJob, quiet: bool) -> Explanation:
    """The explanation that a child process makes."""
    from trifold.explanation import Explanation

    with show_steps(quiet) as on_event:
        return Explanation.from_json(_run("trifold.explanation.job:explain_job", asdict(job), job, on_event))


def _run(function: str, asked: dict[str, Any], job: ExplainJob, listen: Callable[[dict[str, Any]], None]) -> Any:
    """What a child process returns; if it fails, say why, and end."""
    from trifold.processes import Limits, run_isolated

    limits = Limits(job.timeout, job.memory_gib)
    with when_interrupted("interrupted"):
        (result,) = run_isolated(
            function, [asked], workers=1, limits=limits, on_event=lambda index, event: listen(event)
        )
    if result.error:
        typer.echo(f"error: {result.error}", err=True)
        raise typer.Exit(result.outcome.exit_code)
    return result.value or {}


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
