"""Packages whose names are imported when they are first used have the names that they say they have."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import trifold
from trifold.lazy import _read_homes

ROOT = Path(trifold.__file__).parent
LAZY = [
    ".".join(["trifold", *file.parent.relative_to(ROOT).parts])
    for file in sorted(ROOT.rglob("__init__.py"))
    if "= lazily(" in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("package", LAZY)
def test_a_package_has_all_its_names_and_none_of_them_is_a_module_of_its(package: str) -> None:
    module = import_module(package)
    file = Path(str(module.__file__))
    homes = _read_homes(file)
    assert homes and homes.keys() <= set(module.__all__)
    for name, (home, own) in homes.items():
        assert getattr(module, name) is getattr(import_module(home), own)
    assert not homes.keys() & {path.stem for path in file.parent.iterdir()}
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def loaded_after(statement: str) -> set[str]:
    """The modules that a fresh process has loaded after a statement."""
    script = f"{statement}; import sys; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_the_parent_of_a_process_that_solves_loads_none_of_what_its_child_needs() -> None:
    loaded = loaded_after("import trifold.commands.solve, trifold.evaluation, trifold.processes")
    assert not loaded & {"numpy", "torch", "pymimir", "rich", "matplotlib", "trifold.pddl.problem"}
    asked = "from trifold.commands import app; from typer.testing import CliRunner"
    loaded = loaded_after(f"{asked}; CliRunner().invoke(app, ['solve', 'none', 'no-such.pddl'])")
    assert "trifold.commands.solve" in loaded and "pydantic" not in loaded
    assert "trifold.commands.train" not in loaded_after(
        "from trifold.commands import app, Commands; Commands()['solve']"
    )
