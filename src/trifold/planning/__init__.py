"""Acting: the paper's policy over a problem and a callable V, named outcomes, plans and their replay."""

from trifold.planning.outcomes import EXIT_CODES, Outcome
from trifold.planning.plan import Replay, judge, parse_plan, plan_text, read_plan, replay, write_plan
from trifold.planning.policy import TIE, Step, Task, Trajectory, choose, follow_policy
from trifold.planning.solve import solve

__all__ = [
    "EXIT_CODES",
    "TIE",
    "Outcome",
    "Replay",
    "Step",
    "Task",
    "Trajectory",
    "choose",
    "follow_policy",
    "judge",
    "parse_plan",
    "plan_text",
    "read_plan",
    "replay",
    "solve",
    "write_plan",
]
