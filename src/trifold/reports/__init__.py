"""Reports: what run folders and records say, gathered for a page."""

from trifold.reports.report import report_page

__all__ = ["report_page"]
