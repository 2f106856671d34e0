"""benchmarks/training_step.py: both sides take turns on the same batches, and what is no peer is refused."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from peer import check_peer
from trifold.errors import TrifoldError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

# Stands for the peer: answers each batch of two states at once.
PEER = """\
import json, sys
if "-c" in sys.argv:
    sys.exit()
job = json.loads(sys.stdin.readline())
objects = len({name for _, *names in job["states"][0] for name in names})
versions = {"pymimir-rgnn": "0"}
about = {"objects": objects, "messages": 5, "threads": job["threads"], "versions": versions}
print(json.dumps(about), flush=True)
for line in sys.stdin:
    assert len(json.loads(line)) == 2
    print(json.dumps({"assembly": 0.5, "step": 1.0}), flush=True)
"""


def test_both_sides_are_timed_on_the_same_batches(tmp_path: Path) -> None:
    peer = tmp_path / "peer"
    peer.write_text(f"#!{sys.executable}\n{PEER}", encoding="utf-8")
    peer.chmod(0o755)
    small = ["--dim", "8", "--layers", "2", "--batch", "2", "--plain-runs", "2", "--pairs-runs", "1", "--json"]
    command = [sys.executable, str(BENCHMARKS / "training_step.py"), "--peer-python", str(peer), *small]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    plain, pairs = json.loads(done.stdout)["comparisons"]
    assert (plain["trifold"], pairs["trifold"]) == ("R-GNN", "R-GNN[1]")
    assert plain["peer_step"]["seconds"] == [1.0, 1.0] and pairs["peer_assembly"]["seconds"] == [0.5]
    assert len(plain["trifold_step"]["seconds"]) == 2 and plain["ratio"] > 0 and pairs["peer_messages"] == 5


def test_what_is_no_peer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("any")
    for python, message in (
        (tmp_path / "absent", "no Python interpreter here"),
        (Path(sys.executable), "no pymimir-rgnn"),
        (tmp_path / "text", "does not run"),
    ):
        with pytest.raises(TrifoldError, match=message):
            check_peer(python)


def test_the_script_for_the_peers_interpreter_imports_nothing_of_ours() -> None:
    tree = ast.parse((BENCHMARKS / "peer_step.py").read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert "torch" in names and not any(name.split(".")[0] == "trifold" for name in names)
