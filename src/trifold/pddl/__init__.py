"""PDDL problems, their states as structures, state spaces with optimal distances: the only importer of pymimir.

Each name is imported when it is first used: a problem that is solved needs no state space.
"""

from typing import TYPE_CHECKING

from trifold.lazy import lazily

if TYPE_CHECKING:
    from trifold.pddl.actions import ActionTable
    from trifold.pddl.atoms import EVERY_OBJECT, AtomRows, AtomTable, Integers
    from trifold.pddl.description import DomainDescription, Literal
    from trifold.pddl.executor import Executor
    from trifold.pddl.expansion import StateLimitError, UnsolvableError, expand, expand_with_pymimir
    from trifold.pddl.folder import DOMAIN, check_folder, find_domain, find_problems, problem_files
    from trifold.pddl.goals import DisjunctiveGoal
    from trifold.pddl.grounding import GroundingError
    from trifold.pddl.neighbourhood import Neighbourhood
    from trifold.pddl.packed_counts import PackedCounts
    from trifold.pddl.packed_task import PackedTask, PackedWays
    from trifold.pddl.plan_format import canonical, parse_plan, plan_text
    from trifold.pddl.problem import Domain, Problem, State, load_domain, load_problem, read_problem
    from trifold.pddl.problem_description import ProblemDescription
    from trifold.pddl.relaxation import Relaxation
    from trifold.pddl.sampling import rank_within_values
    from trifold.pddl.state_space import ARRAYS, VERSION, StateSpace
    from trifold.pddl.steps import Steps, steps_of

__getattr__ = lazily(__name__)

__all__ = [
    "ARRAYS",
    "DOMAIN",
    "EVERY_OBJECT",
    "VERSION",
    "ActionTable",
    "AtomRows",
    "AtomTable",
    "DisjunctiveGoal",
    "Domain",
    "DomainDescription",
    "Executor",
    "GroundingError",
    "Integers",
    "Literal",
    "Neighbourhood",
    "PackedCounts",
    "PackedTask",
    "PackedWays",
    "Problem",
    "ProblemDescription",
    "Relaxation",
    "State",
    "StateLimitError",
    "StateSpace",
    "Steps",
    "UnsolvableError",
    "canonical",
    "check_folder",
    "expand",
    "expand_with_pymimir",
    "find_domain",
    "find_problems",
    "load_domain",
    "load_problem",
    "parse_plan",
    "plan_text",
    "problem_files",
    "rank_within_values",
    "read_problem",
    "steps_of",
]
