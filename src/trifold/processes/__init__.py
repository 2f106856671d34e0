"""Processes: functions and commands that run in children under limits, where whatever happens is a named outcome."""

from trifold.processes.child import die_with_parent, take_pipes
from trifold.processes.crew import AGAIN, NO_FILES, Crew, Event, Files, Job, Limits, Result, Told, Workers
from trifold.processes.isolation import Children, available_cores, jobs_at_once, run_isolated
from trifold.processes.leash import ERRORS, run_on_leash

__all__ = [
    "AGAIN",
    "ERRORS",
    "NO_FILES",
    "Children",
    "Crew",
    "Event",
    "Files",
    "Job",
    "Limits",
    "Result",
    "Told",
    "Workers",
    "available_cores",
    "die_with_parent",
    "jobs_at_once",
    "run_isolated",
    "run_on_leash",
    "take_pipes",
]
