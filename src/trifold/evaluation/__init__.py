"""Evaluation: attempts in child processes become flat records, and tables read only records."""

from trifold.evaluation.attempt import Attempt, attempt_each
from trifold.evaluation.evaluate import evaluate
from trifold.evaluation.job import Job
from trifold.evaluation.records import Record, append_record, read_records
from trifold.evaluation.tables import RENDERERS, Row, aligned_text, summarise

__all__ = [
    "RENDERERS",
    "Attempt",
    "Job",
    "Record",
    "Row",
    "aligned_text",
    "append_record",
    "attempt_each",
    "evaluate",
    "read_records",
    "summarise",
]
