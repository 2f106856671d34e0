"""The speed of this machine: every stage from PDDL to a policy's step, beside its floor.

This is in the package because whoever trains or plans with Trifold asks it of their own machine: is a step as fast as
it can be here, and where does the time go? It needs nothing but what is installed. What compares Trifold with another
library in an environment of its own, or checks the claims of this project, is in `benchmarks/`, which is not installed.
"""

from trifold.bench.report import Measurement, Report
from trifold.bench.run import run_bench

__all__ = ["Measurement", "Report", "run_bench"]
