"""The options that several commands share: one word means one thing everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EncoderName(StrEnum):
    """A key of `trifold.encoders.ENCODERS`."""

    PLAIN = "plain"
    PAIRS = "pairs"
    COMPOSITIONS = "compositions"
    OBLIVIOUS = "oblivious"
    MARKS = "marks"


Device = Annotated[
    str, typer.Option("--device", help="A torch device: cpu, cuda, cuda:1, … or auto: cuda where there is one.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The seed of everything random.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes that work in parallel; one per core if not given.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Hand the jobs out to a Ray cluster: auto is the one that this machine is a node of, or host:port of its "
        "head. --workers then bounds the jobs at a time, one per CPU if not given.",
    ),
]
Shared = Annotated[
    Path | None,
    typer.Option("--shared", metavar="DIR", help="A folder that all nodes of the --cluster see: its files stay in it."),
]
Json = Annotated[bool, typer.Option("--json", help="Write the result to standard output as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress: only the result.")]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.0, max=1e9, help="Seconds for each problem, reading it included."),
]
Memory = Annotated[
    float | None,
    typer.Option("--memory", min=0.0, max=1e6, help="GiB of address space for each process (cuda reserves far more)."),
]

ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, a run folder, or the name of a shipped model.")
]
DomainFile = Annotated[Path | None, typer.Option("--domain", "-d", help="The PDDL domain file.")]
MaxSteps = Annotated[int, typer.Option("--max-steps", min=0, help="Steps after which the policy gives up.")]
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="actions: by scores of actions; values or strict: by V of successors; or module:function for your own. "
        "The best that the model has if not given.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Short for --policy strict: the least V of all successors, visited or not."),
]
Search = Annotated[
    str,
    typer.Option(
        "--search",
        metavar="NAME",
        help="What follows a policy that ends without a plan, until there is one or none can be: greedy, by the model; "
        "turns, by the model, by relaxed plans and by what is missing of the goal, in turns; beam; module:function for "
        "your own. none: the policy alone.",
    ),
]
KnownStates = Annotated[
    int, typer.Option("--max-states", min=1, help="States that a search may know: a million take up to a GiB.")
]
Improve = Annotated[
    float | None,
    typer.Option("--improve", metavar="SECONDS", min=0.0, max=1e9, help="Look for a shorter plan for this long."),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw a picture, too: a PNG, SVG or PDF, by the suffix."),
]
MaxStates = Annotated[int, typer.Option("--max-states", min=1, help="Leave out problems with more states.")]
Keep = Annotated[
    int | None,
    typer.Option("--keep", min=0, help="Of larger spaces sample this many states, evenly over V*; 0 keeps all."),
]
Detour = Annotated[
    int | None,
    typer.Option(
        "--detour",
        min=0,
        help="Sample only states on ways from the initial state to a goal that are at most so much longer than the "
        "shortest, and their successors.",
    ),
]


def check_plot(plot: Path | None) -> str:
    """What a picture is to be; that it cannot be written is better said before all else."""
    from trifold.errors import TrifoldError
    from trifold.pictures import picture_format

    if plot is None:
        return "png"
    if not plot.parent.is_dir():
        raise TrifoldError("there is no such folder", place=str(plot.parent), remedy="make it, or give another --plot")
    return picture_format(plot)


def choose_policy(policy: str | None, strict: bool) -> str | None:
    """The policy that --policy and --strict ask for together; None if neither does."""
    if policy and strict:
        raise typer.BadParameter("--strict is short for --policy strict: use one of the two")
    return policy or ("strict" if strict else None)


def choose_search(search: str) -> str | None:
    """The search that --search asks for; None is none."""
    return None if search == "none" else search
