"""The architecture: who may import whom, what has a docstring and how long functions are, read from the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "trifold"

# Part of the package → the other parts that it may import. A part is a folder or a module directly under trifold.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "files": {"errors"},
    "limits": {"errors"},
    "expressions": {"errors", "files"},
    "outcomes": set(),
    "provenance": set(),
    "words": set(),
    "memory": {"errors"},
    "sealed": set(),
    "lines": {"errors", "files", "sealed"},
    "tensor_file": {"errors", "files", "sealed"},
    "lazy": set(),
    "pictures": {"errors"},
    "native": set(),
    "structures": {"lazy"},
    "domains": {"expressions", "files"},
    "plugins": {"errors"},
    "processes": {"errors", "files", "memory", "outcomes", "plugins"},
    "cluster": {"errors", "files", "outcomes", "plugins", "processes", "provenance"},
    "pddl": {"errors", "expressions", "files", "lazy", "outcomes", "sealed", "structures", "tensor_file", "words"},
    "encoders": {"errors", "memory", "structures"},
    "wl": {"structures"},
    # Of wl: elements of one colour are computed once.
    "nn": {"errors", "memory", "native", "structures", "wl"},
    "logic": {"errors", "nn", "structures"},
    # Of wl: a hold-out shares no state with what is trained on.
    "data": {"encoders", "errors", "files", "limits", "memory", "outcomes", "pddl"}
    | {"processes", "sealed", "structures", "wl", "words"},
    # Of planning: a model solves a problem. Planning knows no model.
    "model": {"encoders", "errors", "expressions", "lazy", "native", "nn", "pddl", "planning", "sealed", "structures"}
    | {"tensor_file", "words"},
    "shipped": {"errors", "model", "tensor_file"},
    "planning": {"errors", "files", "limits", "outcomes", "pddl"},
    "evaluation": {"errors", "expressions", "files", "lazy", "limits", "lines", "memory", "model", "outcomes", "pddl"}
    | {"pictures", "planning", "processes", "provenance", "sealed", "shipped", "up"},
    # Of domains: a recipe says which problems to select on. Of planning and evaluation: what counts is the policy.
    "training": {"data", "domains", "errors", "evaluation", "files", "limits", "lines", "memory", "model", "nn"}
    | {"pddl", "pictures", "planning", "processes", "provenance", "sealed", "shipped", "structures", "wl"},
    # Above training and evaluation: what was trained is evaluated, and the best is kept.
    "selection": {"domains", "errors", "evaluation", "limits", "model", "pddl", "processes", "provenance"}
    | {"shipped", "training"},
    "analysis": {"data", "encoders", "errors", "memory", "pddl", "pictures", "structures", "wl"},
    # Joins what rules architectures out with what trains and what judges.
    "ladder": {"analysis", "data", "errors", "evaluation", "limits", "memory", "model", "outcomes", "pddl"}
    | {"pictures", "processes", "sealed", "selection", "training", "words"},
    "explanation": {"analysis", "errors", "limits", "model", "outcomes", "pddl", "pictures", "planning"}
    | {"processes", "shipped", "wl", "words"},
    # Of pddl: the states of a way are those of its actions, replayed.
    "pages": {"errors", "explanation", "expressions", "lazy", "pddl"},
    # Joins those who own the facts with the page, which knows nothing of them.
    "reports": {"data", "errors", "evaluation", "explanation", "files", "limits", "model", "outcomes", "pages"}
    | {"processes", "sealed", "shipped", "training", "words"},
    # Joins what draws, trains, selects, evaluates and reports, for many trainings at once.
    "studies": {"cluster", "data", "domains", "errors", "evaluation", "files", "limits", "memory", "model"}
    | {"outcomes", "pddl", "planning", "processes", "reports", "selection", "shipped", "training"},
    "bench": {"data", "domains", "encoders", "errors", "evaluation", "files", "model", "native", "nn"}
    | {"outcomes", "pddl", "processes", "provenance", "structures", "training"},
    # Joins all that has a picture, or a page, with what shows it.
    "notebook": {"analysis", "errors", "evaluation", "explanation", "ladder", "model", "outcomes"}
    | {"pages", "pddl", "planning", "provenance", "training", "words"},
    "up": {"errors", "limits", "memory", "model", "outcomes", "pddl", "planning", "shipped"},
    # Of commands: a program may have the display of a training, too.
    "watched": {"cluster", "commands", "ladder", "processes", "studies", "training"},
    "__main__": {"commands"},
}
MAY_IMPORT_ALL = {"__init__", "commands"}
FREE = {"trifold.__version__"}
"""A constant that stands in the package itself, and that every part may ask for."""

# Parts that are bound to the standard library and these.
ONLY_LIBRARIES: dict[str, set[str]] = {
    "errors": set(),
    "files": set(),
    "expressions": set(),
    "outcomes": set(),
    "sealed": set(),
    "lines": set(),
    "tensor_file": set(),
    "memory": set(),
    "domains": set(),
    "native": {"numpy"},
    "structures": {"torch"},
}
LIBRARY_HOME = {"pymimir": "pddl", "unified_planning": "up", "ray": "cluster"}

FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager"}
MAX_LINES = 400
MAX_FUNCTION_LINES = 60


def imported_names(source: str, module: str, *, is_package: bool = False) -> set[str]:
    """List the dotted names that a module imports anywhere in its text, also in functions and by import_module.

    ``from a import b`` gives a.b, whether b is a module or not. Relative imports are resolved against ``module``.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names.update(alias.name for alias in node.names)
            case ast.ImportFrom():
                origin = [node.module] if node.module else []
                if node.level:
                    parents = module.split(".")
                    origin = parents[: len(parents) + is_package - node.level] + origin
                names.update(".".join([*origin, alias.name]) for alias in node.names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                names.add(name)
    return names


def violations(module: str, names: set[str]) -> list[str]:
    """Say which imports of a module break a rule."""
    part = [*module.split("."), "__init__"][1]
    if part not in MAY_IMPORT and part not in MAY_IMPORT_ALL:
        return [f"{module}: {part} has no row in MAY_IMPORT"]
    found = []
    for name in sorted(names):
        library, *rest = name.split(".")
        if library == "trifold":
            target = rest[0] if rest else "__init__"
            if part not in MAY_IMPORT_ALL and name not in FREE and target not in {part, *MAY_IMPORT[part]}:
                found.append(f"{module} imports {name}: {part} may import {sorted(MAY_IMPORT[part])}")
        elif library not in sys.stdlib_module_names:
            if library not in ONLY_LIBRARIES.get(part, {library}):
                found.append(f"{module} imports {name}: {part} may use {sorted(ONLY_LIBRARIES[part])}")
            if part != LIBRARY_HOME.get(library, part):
                found.append(f"{module} imports {name}: only {LIBRARY_HOME[library]} may")
    return found


def module_name(path: Path) -> str:
    return ".".join(["trifold", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_part_may(module: str) -> None:
    path = MODULES[module]
    names = imported_names(path.read_text(encoding="utf-8"), module, is_package=path.stem == "__init__")
    assert violations(module, names) == []


def test_the_table_has_no_cycle_and_every_row_is_about_a_known_part() -> None:
    assert {target for row in MAY_IMPORT.values() for target in row} <= MAY_IMPORT.keys() | MAY_IMPORT_ALL
    rest = {part: set(row) - MAY_IMPORT_ALL for part, row in MAY_IMPORT.items()}
    while leaves := {part for part, row in rest.items() if not row}:
        rest = {part: row - leaves for part, row in rest.items() if part not in leaves}
    assert rest == {}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("trifold.nn.rgnn", "from trifold.pddl import load_domain"),
        ("trifold.nn.rgnn", "import trifold.processes.worker"),
        ("trifold.nn.rgnn", "from trifold import pddl"),
        ("trifold.nn.rgnn", "from .. import pddl"),
        ("trifold.nn.rgnn", "from ..pddl import load_domain"),
        ("trifold.nn.rgnn", "def late():\n    from trifold.pddl import load_domain"),
        ("trifold.nn.rgnn", "import importlib\nimportlib.import_module('trifold.pddl')"),
        ("trifold.nn.rgnn", "import trifold"),
        ("trifold.nn.rgnn", "import pymimir.advanced as mimir"),
        ("trifold.planning.policy", "from trifold.model import Model"),
        ("trifold.pddl.problem", "from trifold.commands import main"),
        ("trifold.structures.structures", "from trifold.errors import TrifoldError"),
        ("trifold.structures.structures", "import numpy"),
        ("trifold.domains.gripper", "from trifold.errors import TrifoldError"),
        ("trifold.domains.gripper", "import torch"),
        ("trifold.errors", "from trifold.structures import Structures"),
        ("trifold.commands.train", "from pymimir import Domain"),
        ("trifold.bench.run", "import pymimir"),
        ("trifold.novelty", ""),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str) -> None:
    assert violations(module, imported_names(source, module)) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("trifold.nn.rgnn", "import torch\nfrom trifold.structures import Structures\nfrom .mlp import MLP"),
        ("trifold.pddl.problem", "import pymimir\nfrom trifold.errors import TrifoldError"),
        ("trifold.domains.gripper", "import random\nfrom trifold.domains.problem import problem_text"),
        ("trifold.commands.train", "from trifold import training\nimport trifold"),
        ("trifold", "from trifold.training import train"),
    ],
)
def test_an_allowed_import_passes(module: str, source: str) -> None:
    assert violations(module, imported_names(source, module)) == []


def test_relative_imports_are_resolved_from_modules_and_packages() -> None:
    source = "from . import mlp\nfrom ..structures import Structures"
    names = {"trifold.nn.mlp", "trifold.structures.Structures"}
    assert imported_names(source, "trifold.nn.rgnn") == names
    assert imported_names(source, "trifold.nn", is_package=True) == names


@pytest.mark.parametrize("module", ["trifold", "trifold.processes.worker", "trifold.commands", "trifold.domains"])
def test_start_up_does_not_load_torch(module: str) -> None:
    """Torch takes seconds to import: each child process and each ``--help`` would pay for it."""
    assert module in MODULES
    check = f"import sys, {module}; sys.exit('torch was imported' if 'torch' in sys.modules else 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_modules_are_named_for_what_they_hold() -> None:
    assert [module for module in MODULES if FORBIDDEN_NAMES & set(module.split("."))] == []


def test_files_stay_short() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def reaching_imports(module: str, names: set[str]) -> list[str]:
    """Say which imports of a module reach past the ``__init__`` of another room.

    ``from trifold.room import name`` does so if its ``__init__`` gives no such name, and a module is called so.
    """
    found = set()
    for name in names:
        room = ".".join(name.split(".")[:2])
        target = ".".join(name.split(".")[:3])
        if module.split(".")[:2] == room.split(".") or target not in MODULES or target == room:
            continue
        if name != target or target.rpartition(".")[2] not in given_names(room):
            found.add(f"{module} imports {target}")
    return sorted(found)


def given_names(room: str) -> set[str]:
    """List what a room gives to others: the names that its ``__init__`` imports or defines."""
    names: set[str] = set()
    for node in TREES[room].body:
        match node:
            case ast.ImportFrom():
                names.update(alias.asname or alias.name for alias in node.names)
            case ast.FunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
    return names


def undocumented(module: str, tree: ast.Module | ast.ClassDef) -> list[str]:
    """List the public functions, classes and methods without a docstring; names with an underscore are private."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                found.append(f"{module}.{node.name}")
            if isinstance(node, ast.ClassDef):
                found += undocumented(f"{module}.{node.name}", node)
    return found


def long_functions(module: str, tree: ast.Module) -> list[str]:
    """List the functions that are too long from def to end, also inner ones; kernels of Triton are not counted."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [
        f"{module}.{node.name}"
        for node in functions
        if (node.end_lineno or node.lineno) - node.lineno >= MAX_FUNCTION_LINES
        and not any("triton.jit" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]


def broken_rules() -> list[str]:
    """List every breach in the package, each with its rule in front."""
    found: set[str] = set()
    for module, tree in TREES.items():
        path = MODULES[module]
        names = imported_names(path.read_text(encoding="utf-8"), module, is_package=path.stem == "__init__")
        found.update(f"reach: {line}" for line in reaching_imports(module, names))
        found.update(f"docstring: {line}" for line in undocumented(module, tree))
        found.update(f"length: {line}" for line in long_functions(module, tree))
    return sorted(found)


def test_no_import_reaches_into_a_room_what_is_public_has_a_docstring_and_functions_are_short() -> None:
    assert broken_rules() == []


def test_every_permission_is_used_and_the_page_tells_them() -> None:
    used: dict[str, set[str]] = {part: set() for part in MAY_IMPORT}
    for module, path in MODULES.items():
        part = [*module.split("."), "__init__"][1]
        if part in MAY_IMPORT:
            names = imported_names(path.read_text(encoding="utf-8"), module, is_package=path.stem == "__init__")
            ours = {name.split(".")[1] for name in names - FREE if name.startswith("trifold.")}
            used[part] |= ours - {part}
    assert used == MAY_IMPORT
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \|.*\| ([\w, ]+) \|$", page, re.MULTILINE))
    rooms = {
        part: ", ".join(sorted(row)) or "nothing of ours" for part, row in MAY_IMPORT.items() if part != "__main__"
    }
    assert told == rooms


@pytest.mark.parametrize(
    ("module", "source", "reaches"),
    [
        ("trifold.model.model", "from trifold.nn.fused import FusedRGNN", "trifold.nn.fused"),
        ("trifold.model.model", "import trifold.nn.fused", "trifold.nn.fused"),
        ("trifold.model.model", "from trifold.nn import fused", "trifold.nn.fused"),
        ("trifold.model.model", "from ..nn.fused import FusedRGNN", "trifold.nn.fused"),
        ("trifold.commands.train", "def late():\n    from trifold.nn.fused import FusedRGNN", "trifold.nn.fused"),
        ("trifold.model.model", "from trifold.nn import RGNN\nimport trifold.errors\nfrom trifold import files", None),
        ("trifold.nn.rgnn", "from trifold.nn.mlp import MLP\nfrom . import fused", None),
        ("trifold.commands.evaluate", "from trifold.evaluation import evaluate", None),  # a function of that name
    ],
)
def test_an_import_that_reaches_into_a_room_is_found(module: str, source: str, reaches: str | None) -> None:
    expected = [f"{module} imports {reaches}"] if reaches else []
    assert reaching_imports(module, imported_names(source, module)) == expected


def test_what_lacks_a_docstring_is_found_and_what_is_private_or_inner_is_not() -> None:
    source = """
class A:
    'Said.'
    def silent(self): pass
    def said(self):
        'Said.'
        def inner(): pass
    def _private(self): pass
class B: pass
class _C:
    def silent(self): pass
def f(): pass
"""
    assert undocumented("m", ast.parse(source)) == ["m.A.silent", "m.B", "m.f"]


def test_a_function_of_sixty_lines_passes_and_a_longer_one_only_as_a_kernel() -> None:
    body = "    pass\n" * 59
    source = f"def a():\n{body}def b():\n    pass\n{body}@triton.jit\ndef c():\n    pass\n{body}"
    assert long_functions("m", ast.parse(source)) == ["m.b"]
