"""Acting: policies over a problem and what scores its states, plans and their replay."""

from trifold.outcomes import Outcome
from trifold.pddl import parse_plan, plan_text
from trifold.planning.elimination import eliminate
from trifold.planning.given import follow_plan
from trifold.planning.goal_counts import goal_counts
from trifold.planning.greedy import TIE, choose, follow_strictly, follow_unvisited
from trifold.planning.improve import improve
from trifold.planning.plan import Replay, judge, read_plan, replay, states_along, write_plan
from trifold.planning.policies import POLICIES, SEARCHES, find_policy
from trifold.planning.policy import Budget, Memory, OnStep, Policy, Scores, Step, Task, Trajectory
from trifold.planning.relaxed_plans import relaxed_plans
from trifold.planning.scored import follow_scores
from trifold.planning.search import search_by_beam, search_greedily, search_in_turns
from trifold.planning.solve import solve

__all__ = [
    "POLICIES",
    "SEARCHES",
    "TIE",
    "Budget",
    "Memory",
    "OnStep",
    "Outcome",
    "Policy",
    "Replay",
    "Scores",
    "Step",
    "Task",
    "Trajectory",
    "choose",
    "eliminate",
    "find_policy",
    "follow_plan",
    "follow_scores",
    "follow_strictly",
    "follow_unvisited",
    "goal_counts",
    "improve",
    "judge",
    "parse_plan",
    "plan_text",
    "read_plan",
    "relaxed_plans",
    "replay",
    "search_by_beam",
    "search_greedily",
    "search_in_turns",
    "solve",
    "states_along",
    "write_plan",
]
