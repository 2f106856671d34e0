"""What the tests of training share: small problems to learn from, and no pictures but where they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from matplotlib.figure import Figure

from trifold.domains import write_problems
from trifold.training import loop


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3], 0)
    write_problems(path, "gripper", [4], 0, split="validation")
    return path


@pytest.fixture(autouse=True, scope="module")
def _many_looks() -> Iterator[None]:
    """Tiny trainings follow their policy as often as long ones do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "WORTH", 1e9)
        yield


@pytest.fixture(autouse=True)
def _few_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """To draw the curves of a tiny training takes as long as the training."""

    def save(figure: Figure, file: IO[bytes], **options: Any) -> None:
        file.write(b"a picture")

    if request.node.get_closest_marker("draws") is None:
        monkeypatch.setattr(Figure, "savefig", save)
