"""Pages: self-contained HTML that opens with a double click, made from explanations and reports."""

from trifold.pages.job import PageJob
from trifold.pages.page import trace_page
from trifold.pages.report import (
    Attempt,
    Contender,
    Evaluated,
    Facts,
    Labelled,
    Report,
    Seed,
    Training,
    Tried,
    render_report,
)

__all__ = [
    "Attempt",
    "Contender",
    "Evaluated",
    "Facts",
    "Labelled",
    "PageJob",
    "Report",
    "Seed",
    "Training",
    "Tried",
    "render_report",
    "trace_page",
]
