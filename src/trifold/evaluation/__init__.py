"""Evaluation: attempts in child processes become flat records, and tables read only records."""

from trifold.evaluation.attempt import Attempt, attempt_each
from trifold.evaluation.evaluate import evaluate, threads_each
from trifold.evaluation.first_plan import FIRST_PLAN, find_first_plans, first_plan_job
from trifold.evaluation.job import SolveJob
from trifold.evaluation.planner import PlannerJob, find_planner, planner_version
from trifold.evaluation.records import Record, append_record, attempt_key, file_sha256, last_of_each, read_records
from trifold.evaluation.references import Reference, best_of_each, find_references, read_references
from trifold.evaluation.selection import Score, best_of, score_each
from trifold.evaluation.tables import NAME_COLUMNS, RENDERERS, Row, aligned_text, rows_apart, summarise, table_cells

__all__ = [
    "FIRST_PLAN",
    "NAME_COLUMNS",
    "RENDERERS",
    "Attempt",
    "PlannerJob",
    "Record",
    "Reference",
    "Row",
    "Score",
    "SolveJob",
    "aligned_text",
    "append_record",
    "attempt_each",
    "attempt_key",
    "best_of",
    "best_of_each",
    "evaluate",
    "file_sha256",
    "find_first_plans",
    "find_planner",
    "find_references",
    "first_plan_job",
    "last_of_each",
    "planner_version",
    "read_records",
    "read_references",
    "rows_apart",
    "score_each",
    "summarise",
    "table_cells",
    "threads_each",
]
