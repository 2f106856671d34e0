"""The engine of Unified Planning that finds plans: one, or one after the other, each better than the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import IO, Any
from warnings import warn

from unified_planning.engines import AnytimeGuarantee, Engine, OptimalityGuarantee, PlanGenerationResult
from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.engines.mixins import AnytimePlannerMixin, OneshotPlannerMixin
from unified_planning.engines.plan_validator import SequentialPlanValidator
from unified_planning.engines.results import LogLevel, LogMessage
from unified_planning.model.metrics import MinimizeActionCosts, MinimizeSequentialPlanLength
from unified_planning.plans import SequentialPlan

from trifold.errors import TrifoldError
from trifold.limits import KNOWN_STATES, MAX_STEPS
from trifold.memory import lacks_memory
from trifold.outcomes import Outcome
from trifold.planning import Budget, Step, Trajectory
from trifold.up.guide import Guide
from trifold.up.kind import Readable
from trifold.up.shorter import ShorterPlans
from trifold.up.translation import Translation

STATUS = {
    Outcome.SOLVED: Status.SOLVED_SATISFICING,
    Outcome.UNSOLVABLE: Status.UNSOLVABLE_PROVEN,
    Outcome.TIMEOUT: Status.TIMEOUT,
    Outcome.STATE_LIMIT: Status.MEMOUT,
    Outcome.MEMORY_LIMIT: Status.MEMOUT,
    Outcome.STUCK: Status.UNSOLVABLE_INCOMPLETELY,
    Outcome.CYCLE: Status.UNSOLVABLE_INCOMPLETELY,
    Outcome.STEP_LIMIT: Status.UNSOLVABLE_INCOMPLETELY,
    Outcome.NO_PLAN: Status.UNSOLVABLE_INCOMPLETELY,
}
"""What Unified Planning calls the ends of a policy or a search; all others are internal errors."""


class Planner(Readable, Engine, OneshotPlannerMixin, AnytimePlannerMixin):  # type: ignore[misc]
    """A OneshotPlanner and an AnytimePlanner: follow the policy of a model, then search; without a model, search.

    model       a file, or the name of a shipped model such as "gripper"; None: goals are counted, in any domain
    policy      "actions", "values", "strict" or "module:function"; None: the best that the model has
    search      what follows a policy that ends without a plan: "turns", "greedy", "beam", or "none"
    max_steps   of the policy
    max_states  that a search may know, and that an improvement may expand: a million take about a GiB
    device      where the model runs: "auto", "cpu" or "cuda"
    """

    def __init__(
        self,
        model: str | None = None,
        policy: str | None = None,
        search: str | None = "turns",
        max_steps: int = MAX_STEPS,
        max_states: int = KNOWN_STATES,
        device: str = "auto",
    ) -> None:
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)
        AnytimePlannerMixin.__init__(self)
        self._guide = Guide.find(model, policy, search, max_steps, max_states, device)

    @property
    def name(self) -> str:
        """The name in results."""
        return "Trifold"

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        """Plans are plans, and need not be the best."""
        return bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    @staticmethod
    def ensures(anytime_guarantee: AnytimeGuarantee) -> bool:
        """Each plan is better than the one before."""
        return bool(anytime_guarantee == AnytimeGuarantee.INCREASING_QUALITY)

    def _solve(
        self,
        problem: Any,
        heuristic: Callable[[Any], float | None] | None = None,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
    ) -> PlanGenerationResult:
        if heuristic is not None:
            warn(f"{self.name} ignores the heuristic: it scores states by its model, or counts goals", stacklevel=3)
        return self._find(problem, Budget(None, timeout), output_stream)[0]

    def _get_solutions(
        self, problem: Any, timeout: float | None = None, output_stream: IO[str] | None = None
    ) -> Iterator[PlanGenerationResult]:
        """Each plan as an intermediate result when it is found, and in the end the best once more."""
        budget = Budget(None, timeout, self._guide.max_states)
        best, translation, found = self._find(problem, budget, output_stream)
        if translation is None or found is None or found.plan is None:
            yield best
            return
        yield replace(best, status=Status.INTERMEDIATE)
        shorter = ShorterPlans(translation.problem, found.plan, budget)
        for actions in shorter:
            plan = translation.plan(actions)
            if _cost(problem, plan) < _cost(problem, best.plan):
                best = replace(best, plan=plan, metrics=_metrics(budget))
                yield replace(best, status=Status.INTERMEDIATE)
        asked = [isinstance(metric, MinimizeSequentialPlanLength) for metric in problem.quality_metrics]
        is_shortest = shorter.is_shortest and any(asked) and all(asked)
        yield replace(best, status=Status.SOLVED_OPTIMALLY if is_shortest else best.status)

    def _find(
        self, problem: Any, budget: Budget, stream: IO[str] | None
    ) -> tuple[PlanGenerationResult, Translation | None, Trajectory | None]:
        """The first result, with what it was found by; whatever goes wrong is a result, too."""
        otherwise = Status.UNSUPPORTED_PROBLEM
        try:
            if not self.skip_checks and not self.supports(problem.kind):
                other = ", ".join(sorted(problem.kind.features - self.supported_kind().features))
                raise TrifoldError(f"problems with {other} are not supported", remedy="compile them away by a Compiler")
            translation = Translation(problem) if self._guide.model else Translation.with_any_goal(problem)
            scores, notes = self._guide.scores(translation.problem), self._guide.notes(translation.problem)
            otherwise = Status.INTERNAL_ERROR
            left = None if budget.seconds is None else budget.seconds - budget.elapsed()
            found = self._guide.solve(translation.problem, scores, left, _listener(stream))
        except Exception as error:
            if lacks_memory(error):
                otherwise = Status.MEMOUT
            elif not isinstance(error, TrifoldError):
                raise
            told = [LogMessage(LogLevel.ERROR, str(error) or "there is not enough memory")]
            return PlanGenerationResult(otherwise, None, self.name, _metrics(budget), told), None, None
        status = STATUS.get(found.outcome, Status.INTERNAL_ERROR)
        plan = None if found.plan is None else translation.plan(found.plan)
        told = [LogMessage(LogLevel.WARNING, note) for note in notes]
        by = f" by {found.found_by}" if found.found_by else ""
        told.append(LogMessage(LogLevel.INFO, f"{found.outcome.value}{by} after {found.steps} steps"))
        if found.failure:
            told.append(LogMessage(LogLevel.ERROR, found.failure))
        return PlanGenerationResult(status, plan, self.name, _metrics(budget), told), translation, found


def _metrics(budget: Budget) -> dict[str, str]:
    return {"engine_internal_time": str(budget.elapsed())}


def _listener(stream: IO[str] | None) -> Callable[[Step], None]:
    """Writes each step, so that it can be followed."""
    if stream is None:
        return lambda step: None

    def listen(step: Step) -> None:
        stream.write(f"step {step.number}  {step.action or 'start'}\n")

    return listen


def _cost(problem: Any, plan: SequentialPlan) -> Fraction:
    """What a plan is judged by: the costs of its actions if the problem has them, and else its length."""
    for metric in problem.quality_metrics:
        if isinstance(metric, MinimizeActionCosts):
            found = SequentialPlanValidator().validate(problem, plan).metric_evaluations
            return Fraction(found[metric])
    return Fraction(len(plan.actions))
