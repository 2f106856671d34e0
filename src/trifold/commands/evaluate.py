"""`trifold evaluate`: one model on a folder of problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifold.commands import options
from trifold.commands.hands import hired
from trifold.commands.progress import show_records, tell_waiting, when_interrupted
from trifold.limits import KNOWN_STATES, MAX_STEPS
from trifold.words import counted

if TYPE_CHECKING:
    from trifold.evaluation import Record


def evaluate(
    model: options.ModelFile,
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of PDDL problems, or one problem file.")],
    domain: options.DomainFile = None,
    records: Annotated[
        Path, typer.Option("--records", "-r", help="The file of JSON lines to append to, and to continue.")
    ] = Path("records.jsonl"),
    plans: Annotated[Path | None, typer.Option("--plans", help="A folder to write the plans to.")] = None,
    policy: options.PolicyName = None,
    strict: options.Strict = False,
    search: options.Search = "none",
    max_steps: options.MaxSteps = MAX_STEPS,
    max_states: options.KnownStates = KNOWN_STATES,
    improve: options.Improve = None,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    shared: options.Shared = None,
    device: options.Device = "auto",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Attempt every problem of a folder, record each, and print the table.

    It is the policy alone that is evaluated, unless a --search is to follow where it ends without a plan, as `trifold
    solve` has it. Attempts with another search, or with another time to --improve plans, are rows of their own. The
    domain is --domain, or else domain.pddl in the folder, or in its parent, or the one that the model carries. After an
    interrupt the same command goes on. Two that write to the same records take turns. Exit code 2: no problem was fit.
    """
    from trifold.evaluation import RENDERERS, summarise
    from trifold.evaluation import evaluate as evaluate_all
    from trifold.outcomes import Outcome
    from trifold.pddl import find_domain, find_problems

    problems, hands = find_problems(place), hired(cluster, workers, shared, quiet)
    go_on = f"interrupted; {records} keeps what is done, the same command goes on from there"
    shown = show_records("evaluating", len(problems), describe_attempt, quiet)
    with when_interrupted(go_on), hands as crew, shown as on_record:
        found = evaluate_all(
            model,
            problems,
            records=records,
            domain=domain or find_domain(place),
            plans=plans,
            policy=options.choose_policy(policy, strict),
            search=options.choose_search(search),
            max_steps=max_steps,
            max_states=max_states,
            improve=improve,
            timeout=timeout,
            memory_gib=memory,
            workers=crew,
            device=device,
            on_record=on_record,
            on_wait=lambda: tell_waiting(records),
        )
    typer.echo(RENDERERS["json" if json else "text"](summarise(found)), nl=False)
    if all(record["outcome"] == Outcome.BAD_INPUT for record in found):
        raise typer.Exit(Outcome.BAD_INPUT.exit_code)


def describe_attempt(record: Record) -> str:
    """One line about an attempt with a model."""
    if record["plan_length"] is not None:
        by = f" by {record['found_by']}" if record.get("search") and record.get("found_by") else ""
        return f"solved{by} in {counted(record['plan_length'], 'step')}, {record['seconds']:.1f} s"
    reason = f": {record['message']}" if record["message"] else ""
    return f"{record['outcome']} after {counted(record['steps'], 'step')}, {record['seconds']:.1f} s{reason}"
