"""Pages: self-contained HTML that opens with a double click, made from explanations."""

from trifold.pages.job import PageJob
from trifold.pages.page import trace_page

__all__ = ["PageJob", "trace_page"]
