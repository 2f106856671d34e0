"""Pages: self-contained HTML that opens with a double click, made from explanations and reports.

They are imported when they are first asked for: explanations load torch, and reports of records need none.
"""

from typing import TYPE_CHECKING

from trifold.lazy import lazily

if TYPE_CHECKING:
    from trifold.pages.job import PageJob
    from trifold.pages.page import trace_page
    from trifold.pages.report import (
        Attempt,
        Contender,
        Evaluated,
        Facts,
        Labelled,
        Publication,
        Report,
        Seed,
        TableLine,
        Training,
        Tried,
        render_report,
    )
    from trifold.pages.state import state_page

__getattr__ = lazily(__name__)

__all__ = [
    "Attempt",
    "Contender",
    "Evaluated",
    "Facts",
    "Labelled",
    "PageJob",
    "Publication",
    "Report",
    "Seed",
    "TableLine",
    "Training",
    "Tried",
    "render_report",
    "state_page",
    "trace_page",
]
