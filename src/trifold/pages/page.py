"""The page of one explanation, or of two beside each other."""

from __future__ import annotations

from trifold.errors import TrifoldError
from trifold.explanation import Explanation
from trifold.pages.kinds import TRACE
from trifold.pages.skeleton import embedded, fill
from trifold.pages.trace import trace_data
from trifold.pddl import Executor, Problem

MOST_BESIDE = 2
"""Traces on a page: more would be too narrow to read."""


def trace_page(problem: Problem | Executor, *explanations: Explanation) -> str:
    """The page of one explanation, or of two of the same problem beside each other: HTML that needs no other file.

    It shows the plan step by step with the states drawn, V and V* along the way, all applicable actions, and the pairs
    that R-GNN[t] composes around an object. Names from problems and models are data to it, and cannot run.

    >>> from trifold import explain, load_domain, load_problem
    >>> problem = load_problem(load_domain("gripper/domain.pddl"), "problem.pddl")
    >>> page = trace_page(problem, explain("model.safetensors", problem))
    >>> page.count("<script"), "https:" in page, page[:15]
    (2, False, '<!doctype html>')
    """
    if not 1 <= len(explanations) <= MOST_BESIDE:
        raise TrifoldError(f"a page shows one trace or two, not {len(explanations)}", remedy="make several pages")
    if len({(one.domain, one.problem) for one in explanations}) > 1:
        raise TrifoldError("traces beside each other are of one problem", remedy="explain the same problem twice")
    executor = problem if isinstance(problem, Executor) else problem.executor
    title = f"{explanations[0].problem}: a trace"
    return fill(TRACE, title, trace_data(executor, explanations))


def trace_text(executor: Executor, explanation: Explanation) -> str:
    """The data of the page of one explanation, as the page has it."""
    return embedded(trace_data(executor, [explanation]))
