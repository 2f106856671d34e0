"""What a training tells whoever watches it."""

from __future__ import annotations

from typing import Any

from trifold.data import Labelled
from trifold.errors import TrifoldError
from trifold.training.loop import Progress


class Watcher:
    """What a training reports as it goes; the default says nothing. A display overrides what it shows."""

    def labelling(self, problems: int) -> None: ...

    def labelled(self, item: Labelled) -> None: ...

    def encoding(self, done: int, states: int) -> None: ...

    def prepared(self, summary: dict[str, Any]) -> None: ...

    def progress(self, progress: Progress) -> None: ...

    def failed(self, seed: int, error: TrifoldError) -> None: ...
