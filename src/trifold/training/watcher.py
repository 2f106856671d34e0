"""What a training tells whoever watches it."""

from __future__ import annotations

from typing import Any

from trifold.data import Labelled
from trifold.errors import TrifoldError
from trifold.evaluation import Attempt
from trifold.training.loop import Progress


class Watcher:
    """What a training reports as it goes; the default says nothing. A display overrides what it shows."""

    def chose(self, recipe: str, minutes: float | None) -> None:
        """No recipe was asked for: it is this one, which takes at most so many minutes, if it says so."""

    def labelling(self, problems: int) -> None:
        """The problems are being labelled: this is how many there are."""

    def labelled(self, item: Labelled) -> None:
        """One of them is done."""

    def encoding(self, done: int, states: int) -> None:
        """So far this many of the states are encoded."""

    def prepared(self, summary: dict[str, Any]) -> None:
        """The data is ready; the summary is that of data.json."""

    def progress(self, progress: Progress) -> None:
        """A seed has come further."""

    def trying(self, problems: int) -> None:
        """All seeds are trained, and the model is tried on so many larger problems."""

    def tried(self, attempt: Attempt) -> None:
        """One of them is done."""

    def failed(self, seed: int, error: TrifoldError) -> None:
        """A seed is left out."""
