"""The batch script for Slurm, with stand-ins for Slurm, Ray and Trifold that write down how they are called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "slurm.sh"

STAND_INS = {
    "scontrol": 'printf "%s\\n" n1 n2 n3',
    "srun": 'echo "srun $*" >> calls; while [[ $1 == --* ]]; do shift; done; exec "$@"',
    "hostname": "echo 10.0.0.1 fe80::1",
    "ray": 'echo "ray $*" >> calls; [[ $1 == status ]] && exit 0; touch started-$$; trap "rm started-$$; exit" TERM; '
    "while sleep 0.05; do :; done",
    "trifold": 'echo "trifold $*" >> calls; until [[ $(ls started-* | wc -l) == 2 ]]; do sleep 0.05; done; '
    'trap "echo interrupted >> calls; exit 143" TERM; [[ -e slow ]] && kill -TERM $PPID && sleep 1 && exit 9; '
    "exit ${CODE:-0}",
}


def run_script(folder: Path, **environment: str) -> tuple[int, list[str]]:
    tools = folder / "bin"
    tools.mkdir()
    for name, text in STAND_INS.items():
        (tools / name).write_text(f"#!/bin/bash\n{text}\n")
        (tools / name).chmod(0o755)
    slurm = {"SLURM_JOB_ID": "40017", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_CPUS_PER_TASK": "8"}
    own = {"TRIFOLD_BIN": str(tools), **slurm, **environment}
    words = ["bash", str(SCRIPT), "label", "my suite"]
    done = subprocess.run(words, cwd=folder, env=os.environ | own, capture_output=True, text=True, timeout=60)
    assert not list(folder.glob("started-*")), "a node was left"
    return done.returncode, (folder / "calls").read_text().splitlines()


@pytest.mark.parametrize("code", [0, 2])
def test_ray_runs_on_all_nodes_as_long_as_the_command(tmp_path: Path, code: int) -> None:
    ended, calls = run_script(tmp_path, CODE=str(code), SLURM_MEM_PER_NODE="1000")
    assert ended == code
    assert "trifold label my suite --cluster 10.0.0.1:20017" in calls
    steps = [call for call in calls if call.startswith("srun") and "ray start" in call]
    (head,) = (step for step in steps if "--head" in step)
    (others,) = (step for step in steps if "--head" not in step)
    assert "--nodelist=n1" in head and "--port=20017" in head and "--include-dashboard=false" in head
    assert "--nodes=2 --ntasks=2 --exclude=n1" in others and "--address=10.0.0.1:20017" in others
    assert all("--disable-usage-stats" in step for step in steps)
    starts = [call for call in calls if call.startswith("ray start")]
    assert len(starts) == 2 and all("--num-cpus=8" in call and f"--memory={800 * 2**20}" in call for call in starts)


def test_when_the_time_is_over_the_command_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    ended, calls = run_script(tmp_path)
    assert ended != 0 and "interrupted" in calls
