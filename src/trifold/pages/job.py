"""What runs in a child process: read a problem, replay the ways through it, and make their page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifold.explanation import Explanation
from trifold.expressions import Source
from trifold.pages.page import trace_page, trace_text
from trifold.pddl import Executor


@dataclass(frozen=True)
class PageJob:
    """A page to ask of a child.

    domain        the text of the domain, and what to call it
    problem       a file
    explanations  each as JSON
    """

    domain: tuple[str, str]
    problem: str
    explanations: tuple[dict[str, Any], ...]


def page_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The page, as a text."""
    asked = PageJob(**job)
    executor = Executor.load(Source(*asked.domain), Path(asked.problem))
    return {"page": trace_page(executor, *map(Explanation.from_json, asked.explanations))}


def trace_job(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The data of the page of its one explanation, for a page that has many traces."""
    asked = PageJob(**job)
    executor = Executor.load(Source(*asked.domain), Path(asked.problem))
    (explanation,) = map(Explanation.from_json, asked.explanations)
    return {"trace": trace_text(executor, explanation)}
