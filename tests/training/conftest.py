"""What the tests of training share: small problems to learn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifold.domains import write_problems


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gripper")
    write_problems(path, "gripper", [1, 2, 3], 0)
    write_problems(path, "gripper", [4], 0, split="validation")
    return path
