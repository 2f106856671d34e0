"""The speed of this machine: every stage from PDDL to a policy's step, beside its floor."""

from trifold.bench.report import Report, Row
from trifold.bench.run import run_bench

__all__ = ["Report", "Row", "run_bench"]
