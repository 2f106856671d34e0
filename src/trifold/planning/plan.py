"""Plans: files of them, written so that no half is ever seen, and replayed before they are believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trifold.files import read_text, write_whole
from trifold.pddl import canonical, parse_plan, plan_text
from trifold.planning.policy import State, Task

if TYPE_CHECKING:
    from trifold.pddl import Executor


def write_plan(path: Path, actions: Sequence[str]) -> None:
    """Write the plan to `path`, whole or not at all."""
    write_whole(path, plan_text(actions).encode())


def read_plan(path: Path) -> list[str]:
    """The actions of the plan in a file."""
    return parse_plan(read_text(path), place=str(path))


@dataclass(frozen=True)
class Replay:
    """What came of replaying a plan: true if it reached a goal, else why not, and after how many good steps."""

    steps: int
    failure: str | None = None

    def __bool__(self) -> bool:
        return self.failure is None


def judge(executor: Executor, actions: Sequence[str]) -> Replay:
    """Replay the actions by Trifold's own executor, which shares no engine with the search that found them."""
    return _replay(executor.initial, executor.successor, executor.is_goal, actions)


def replay(problem: Task[State], actions: Sequence[str]) -> Replay:
    """Replay the actions by the successors of any task, such as pymimir's of a problem."""

    def successor(state: State, action: str) -> State | None:
        return {canonical(name): after for name, after in problem.successors(state)}.get(action)

    return _replay(problem.initial_state, successor, problem.is_goal, actions)


def states_along(problem: Task[State], actions: Sequence[str]) -> tuple[State, ...]:
    """The states that actions lead through, from the initial one, as far as they are applicable."""
    states = [problem.initial_state]
    for action in actions:
        after = dict(problem.successors(states[-1])).get(action)
        if after is None:
            break
        states.append(after)
    return tuple(states)


def _replay(
    state: State,
    successor: Callable[[State, str], State | None],
    is_goal: Callable[[State], bool],
    actions: Sequence[str],
) -> Replay:
    """Apply the actions one after another, and test the goal at the end."""
    for steps, action in enumerate(map(canonical, actions)):
        after = successor(state, action)
        if after is None:
            return Replay(steps, f"step {steps + 1}: {action} is not applicable")
        state = after
    if not is_goal(state):
        return Replay(len(actions), f"the goal does not hold after the last step ({len(actions)})")
    return Replay(len(actions))
