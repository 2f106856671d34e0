"""What tests and doctests share: one thread, a private cache, and files to show the API on."""

from __future__ import annotations

import inspect
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded: a fork waits forever for threads that it did not inherit

import pytest
import torch
from hypothesis import HealthCheck, settings

from ray_cluster import RAY, Hands, RayNodes
from trifold.cluster import Cluster, join_cluster

pytest_plugins = ("pages.showing",)  # two modules of tests share its browser

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported, by whatever test comes first

# Ignored in a background job or under nohup, and so by all its children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

SLOW = [
    "tests/bench",
    "tests/benchmarks/test_search_speed.py",
    "tests/benchmarks/test_step_speed.py",
    "tests/commands",
    "tests/data/test_split.py",
    "tests/domains",
    "tests/encoders/test_pairs.py",
    "tests/encoders/test_queries.py",
    "tests/evaluation/test_campaign.py",
    "tests/evaluation/test_first_plan.py",
    "tests/evaluation/test_references.py",
    "tests/experiments/test_site.py",
    "tests/experiments/test_site_states.py",
    "tests/explanation/test_following.py",
    "tests/fuzz",
    "tests/ladder/test_climb.py",
    "tests/logic/test_compiled_navig_xy.py",
    "tests/model/test_captured_look.py",
    "tests/model/test_heads.py",
    "tests/notebook/test_shown.py",
    "tests/nn/test_cuda.py",
    "tests/nn/test_family.py",
    "tests/nn/test_fused.py",
    "tests/nn/test_rgnn.py",
    "tests/pages/test_browser.py",
    "tests/pages/test_report_browser.py",
    "tests/pages/test_seen.py",
    "tests/pddl/test_actions.py",
    "tests/pddl/test_packed.py",
    "tests/pddl/test_problem.py::test_successors_and_structures_do_not_depend_on_the_process",
    "tests/pddl/test_rewriting.py",
    "tests/studies/test_study.py",
    "tests/test_extensions.py",
    "tests/test_notebook.py",
    "tests/test_own_domain_page.py",
    "tests/test_pages.py::test_unified_planning_solves_as_the_readme_says",
    "tests/test_tutorial.py",
    "tests/training",
    "tests/up/test_planner.py",
    "tests/wl/test_networks.py",
    "tests/wl/test_refinement.py",
]
"""Where tests are marked slow, so that ``make check`` leaves them out: some seconds for a test, or five for a file."""

settings.register_profile("trifold", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trifold")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow: by its place, or as it needs the example's trained model."""
    for place in SLOW:
        if not (Path(__file__).parent / place.partition("::")[0]).exists():
            raise pytest.UsageError(f"conftest.py calls {place} slow, and there is no such file")
    for item in items:
        names_example = "example_folder" in getattr(item, "fixturenames", ()) or _names_files(item)
        if names_example or item.nodeid.startswith(tuple(SLOW)):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Tests run beside each other on few cores; one thread each is fastest."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("TRIFOLD_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(autouse=True)
def _same_signals() -> Iterator[None]:
    """A command that ends in a test ignores signals from then on; the tests after it, and their children, must not."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _children_are_forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children of isolation are forks of the test, which need load nothing, unless it is marked ``real_children``."""
    from fuzz.commands_in_forks import FORKS
    from trifold.processes import isolation

    if request.node.get_closest_marker("real_children") is None:
        monkeypatch.setattr(isolation, "subprocess", FORKS)


@pytest.fixture(autouse=True)
def _interpreter_looks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton's interpreter looks for what to patch at each inner call, a third of its time; here it knows."""
    if interpreter := sys.modules.get("triton.runtime.interpreter"):
        monkeypatch.setattr(interpreter, "_patch_builtin", _patch_builtin)


def _patch_builtin(package: Any, builder: Any, scope: Any) -> None:
    """What Triton's function of this name does."""
    interpreter = sys.modules["triton.runtime.interpreter"]
    is_builtin = interpreter.tl.core.is_builtin
    if package not in _BUILTINS:
        _BUILTINS[package] = [name for name, member in inspect.getmembers(package) if is_builtin(member)]
    for name in _BUILTINS[package]:
        if not is_builtin(member := getattr(package, name)):
            return  # all of them have been patched
        interpreter._patch_attr(package, name, member, builder, scope)


_BUILTINS: dict[Any, list[str]] = {}


@pytest.fixture(scope="session")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that documentation speaks of: gripper/ with small problems, problem.pddl, and model.safetensors."""
    from trifold.domains import DOMAINS, write_problems
    from trifold.training import train

    folder = tmp_path_factory.mktemp("example")
    write_problems(folder / "gripper", "gripper", [1, 2, 3], 0)
    (folder / "problem.pddl").write_text(
        DOMAINS["gripper"].problem(random.Random(0), 2, start="classic"), encoding="utf-8"
    )
    changes: dict[str, Any] = {"dim": 16, "layers": 6, "steps": 200, "batch": 16, "validate_every": 20}
    result = train(folder / "gripper", folder / "run", "small", learning_rate=0.003, **changes)
    result.model_path.rename(folder / "model.safetensors")
    return folder


@pytest.fixture(scope="session")
def ray_nodes() -> Iterator[RayNodes]:
    """A Ray cluster of two nodes, with a CPU each, for the tests that are marked ``ray_cluster.RAY``."""
    nodes = RayNodes(1)
    nodes.add(1)
    yield nodes
    nodes.close()


@pytest.fixture(scope="session")
def ray_crew(ray_nodes: RayNodes) -> Iterator[Cluster]:
    """The cluster, joined."""
    with join_cluster(ray_nodes.address) as crew:
        yield crew


@pytest.fixture(params=["children", pytest.param("cluster", marks=RAY)])
def hands(request: pytest.FixtureRequest) -> Hands:
    """Each crew that there is: tests that take this hold for all of them."""
    if request.param == "children":
        return lambda count: count
    crew: Cluster = request.getfixturevalue("ray_crew")

    def of_size(count: int) -> Cluster:
        crew.most = count
        return crew

    return of_size


@pytest.fixture(autouse=True)
def _doctest_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctests that name files run where these files are."""
    if _names_files(request.node):
        monkeypatch.chdir(request.getfixturevalue("example_folder"))


def _names_files(item: pytest.Item) -> bool:
    """Whether a test is a doctest that speaks of the example's files."""
    return isinstance(item, pytest.DoctestItem) and ".pddl" in (item.dtest.docstring or "")
