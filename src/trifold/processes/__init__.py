"""Processes: functions and commands that run in children under limits, where whatever happens is a named outcome."""

from trifold.processes.isolation import Limits, Result, available_cores, run_isolated
from trifold.processes.leash import ERRORS, run_on_leash

__all__ = ["ERRORS", "Limits", "Result", "available_cores", "run_isolated", "run_on_leash"]
