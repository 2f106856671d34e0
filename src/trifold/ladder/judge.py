"""The problems that all rungs are judged on: larger than those of training, and none that results are told of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trifold.data import HELD_OUT, SHARED, Labelled, Split
from trifold.errors import TrifoldError
from trifold.evaluation import Record, evaluate, file_sha256
from trifold.limits import MAX_STEPS
from trifold.pddl import find_problems, load_domain, read_problem
from trifold.processes import Workers
from trifold.sealed import Damaged
from trifold.selection import draw_selection
from trifold.training import Recipe, find_larger, lay_tracks

SECONDS = 30.0
"""That one problem may take, whatever the rung: a policy that needs longer is none for a CPU."""

TEST = "test"
"""The folder whose problems nothing may be chosen by."""


@dataclass(frozen=True)
class Judge:
    """The problems that rungs are judged on, and the limits of each attempt, which are the same for all rungs.

    source      which problems these are, in words
    fell_back   whether there are no larger ones, so that they are as small as those of training
    problems    their files
    optima      V* of those of which it is known
    """

    source: str
    problems: tuple[str, ...]
    fell_back: bool = False
    optima: dict[str, int] = field(default_factory=dict)
    max_steps: int = MAX_STEPS
    seconds: float = SECONDS

    def to_json(self) -> dict[str, Any]:
        """Its fields, as ``from_json`` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Judge:
        """Read and check the fields that a ladder.json holds."""
        judge = cls(**values | {"problems": tuple(values["problems"])})
        texts = [judge.source, *judge.problems, *judge.optima]
        numbers = [judge.max_steps, *judge.optima.values()]
        if not judge.problems or not all(type(text) is str and "\0" not in text for text in texts):
            raise Damaged("its judge has no problems")
        if not all(type(number) is int and number >= 0 for number in numbers) or not 0 < judge.seconds < 1e9:
            raise Damaged("the limits of its judge are none")
        return judge

    def check(self, domain: Path) -> None:
        """Raise if one of the problems is not of this domain: better said before a rung is trained."""
        loaded = load_domain(domain)
        for file in self.problems:
            read_problem(loaded, Path(file))

    def __call__(
        self,
        model: Path,
        records: Path,
        *,
        memory_gib: float | None,
        workers: Workers | None,
        on_record: Callable[[Record, bool], None],
    ) -> list[Record]:
        """Follow the policy of a model on every problem, on the CPU; what is recorded already is not done again."""
        return evaluate(
            model,
            self.problems,
            records=records,
            max_steps=self.max_steps,
            timeout=self.seconds,
            memory_gib=memory_gib,
            workers=workers,
            device="cpu",
            on_record=on_record,
        )


def choose_judge(recipe: Recipe, labelled: Sequence[Labelled], parts: Split, place: Path | None, drawn: Path) -> Judge:
    """The judge of a ladder: problems of a folder that is given, or else those that the recipe's selection describes,
    or else those of the data that could not be labelled whole. Where there are none, it falls back to labelled ones.

    place  the folder that is given
    drawn  the folder that problems are drawn into
    """
    if place is not None:
        return _given(place, parts)
    if recipe.selection is not None:
        files = find_problems(draw_selection(recipe.selection, drawn).absolute())
        source = f"problems of the recipe's selection, drawn into {drawn}"
        return Judge(source, tuple(map(str, files)), max_steps=recipe.selection.max_steps)
    held_out = [] if parts.rule == SHARED else parts.validation
    if larger := find_larger(labelled, held_out):
        optima = {str(one.path): one.optimum for one in larger if one.optimum is not None}
        source = "problems that could not be labelled, or not whole"
        return Judge(source, tuple(str(one.path) for one in larger), optima=optima)
    tracks = lay_tracks(parts.validation, recipe.model.has_actions)
    words = {SHARED: "training problems themselves, for none can be held out", HELD_OUT: "held-out problems"}
    source = words.get(parts.rule, "validation problems")
    optima = {str(track.path): track.optimum for track in tracks}
    return Judge(source, tuple(optima), fell_back=True, optima=optima)


def _given(place: Path, parts: Split) -> Judge:
    """The judge of a folder's problems, unless they are those of a test, or of the training."""
    folder = place.resolve() if place.is_dir() else place.resolve().parent
    if folder.name == TEST:
        raise TrifoldError(
            "nothing is chosen by test problems, or results on them would tell too much",
            place=str(place),
            remedy="draw others of that size with another seed: trifold generate DOMAIN --help",
        )
    files = find_problems(place.absolute())  # a climb may go on in another folder
    trained = {file_sha256(item.path): item.path.name for item in parts.training}
    if same := [file.name for file in files if file_sha256(file) in trained]:
        raise TrifoldError(
            f"rungs cannot be judged on what they are trained on: {', '.join(same[:6])}",
            place=str(place),
            remedy="give a folder of other problems, larger ones",
        )
    return Judge(f"problems of {place}", tuple(map(str, files)))
