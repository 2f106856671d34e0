"""Evaluation: attempts in child processes become flat records, and tables read only records.

Each name is imported when it is first used: a child process that attempts a problem needs no tables.
"""

from typing import TYPE_CHECKING

from trifold.lazy import lazily

if TYPE_CHECKING:
    from trifold.evaluation.attempt import Attempt, attempt_each
    from trifold.evaluation.campaign import evaluate, threads_each
    from trifold.evaluation.comparison import LINE_COLUMNS, UNKNOWN, Line, best_total, make_line, paper_line
    from trifold.evaluation.first_plan import FIRST_PLAN, find_first_plans, first_plan_job
    from trifold.evaluation.job import SolveJob
    from trifold.evaluation.planner import PlannerJob, find_planner, planner_version
    from trifold.evaluation.plot import plot_coverage
    from trifold.evaluation.published import PUBLISHED_IN, are_own_files, published_rows
    from trifold.evaluation.records import (
        Record,
        Records,
        append_record,
        attempt_key,
        file_sha256,
        last_of_each,
        read_records,
    )
    from trifold.evaluation.references import Reference, best_of_each, find_references, read_references, shorten
    from trifold.evaluation.selection import Score, best_of, score_each
    from trifold.evaluation.tables import RENDERERS, Row, aligned_text, rows_apart, summarise, table_cells

__getattr__ = lazily(__name__)

__all__ = [
    "FIRST_PLAN",
    "LINE_COLUMNS",
    "PUBLISHED_IN",
    "RENDERERS",
    "UNKNOWN",
    "Attempt",
    "Line",
    "PlannerJob",
    "Record",
    "Records",
    "Reference",
    "Row",
    "Score",
    "SolveJob",
    "aligned_text",
    "append_record",
    "are_own_files",
    "attempt_each",
    "attempt_key",
    "best_of",
    "best_of_each",
    "best_total",
    "evaluate",
    "file_sha256",
    "find_first_plans",
    "find_planner",
    "find_references",
    "first_plan_job",
    "last_of_each",
    "make_line",
    "paper_line",
    "planner_version",
    "plot_coverage",
    "published_rows",
    "read_records",
    "read_references",
    "rows_apart",
    "score_each",
    "shorten",
    "summarise",
    "table_cells",
    "threads_each",
]
