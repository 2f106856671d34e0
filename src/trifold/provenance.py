"""What a run records of its origin: source, versions, hardware and command, and what a model says of its training."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from trifold import __version__

T = TypeVar("T")

VERSION = __version__
"""Of Trifold, also where it is not installed."""


def source_version() -> str:
    """The version of Trifold, and after a plus the first digits of a hash of its source."""
    folder, digest = Path(__file__).parent, hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"\0{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:8]}"


def processor_name() -> str:
    """What the processor calls itself."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def spell_command(words: Sequence[str]) -> str:
    """A command as one would type it, from the words of ``sys.argv``.

    >>> spell_command(["/somewhere/bin/trifold", "train", "my problems"])
    "trifold train 'my problems'"
    >>> spell_command(["scripts/sweep.py", "--all"])
    'python sweep.py --all'
    """
    program = Path(words[0])
    if program.name == "trifold" or program.parts[-2:] == ("trifold", "__main__.py"):
        return shlex.join(["trifold", *words[1:]])
    return shlex.join(["python", program.name, *words[1:]])


def describe_environment(device: str) -> dict[str, Any]:
    """The versions and the hardware of a run, as JSON."""
    # Both are slow to import, and records need no more than the names above.
    from importlib.metadata import PackageNotFoundError, version

    import torch

    packages = ("torch", "pymimir", "numpy", "safetensors")
    versions = {"trifold": source_version()} | {package: version(package) for package in packages}
    with suppress(PackageNotFoundError):  # it comes with builds of torch for CUDA alone
        versions["triton"] = version("triton")
    return {
        "python": platform.python_version(),
        "versions": versions,
        "platform": platform.platform(),
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
    }


@dataclass(frozen=True)
class Origin:
    """The facts of a training that tables and records tell; None is what the model's file does not say.

    command          that trained it
    seed             of this model
    seeds            how many models were trained, of which this one was kept
    steps            that this model was trained for, up to where its validation loss was least
    seconds          of the training of all of them, validation included, labelling not
    validation_loss  of this model
    data             the hash of what it was trained on, `problems` and `states` how much that is
    hardware         the accelerator, or else the processor
    versions         of the software

    >>> Origin.of({"settings": {"seed": 1, "seeds": 3}, "training": {"seconds": [60.0, 61.0, 62.0]}}).seconds
    183.0
    """

    command: str | None = None
    seed: int | None = None
    seeds: int | None = None
    steps: int | None = None
    seconds: float | None = None
    validation_loss: float | None = None
    data: str | None = None
    problems: int | None = None
    states: int | None = None
    hardware: str | None = None
    versions: str | None = None

    @classmethod
    def of(cls, provenance: dict[str, Any]) -> Origin:
        """Read the facts from the provenance that a training leaves in a model; what is none of them is not said."""

        def fact(kind: Callable[[object], T | None], *names: str) -> T | None:
            value: object = provenance
            for name in names:
                value = value.get(name) if isinstance(value, dict) else None
            return kind(value)

        device = fact(_text, "environment", "device")
        return cls(
            command=fact(_command, "command"),
            seed=fact(_count, "settings", "seed"),
            seeds=fact(_count, "settings", "seeds"),
            steps=fact(_count, "selected", "step"),
            seconds=fact(_total, "training", "seconds"),
            validation_loss=fact(_number, "selected", "validation_loss"),
            data=fact(_text, "data", "hash"),
            problems=fact(_count, "data", "problems"),
            states=fact(_count, "data", "states"),
            hardware=fact(_text, "environment", "processor") if device == "cpu" else device,
            versions=fact(_versions, "environment", "versions"),
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _number(value: object) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return value if abs(value) < 1e300 else None


def _total(values: object) -> float | None:
    numbers = [_number(value) for value in values] if isinstance(values, list) else []
    return sum(number for number in numbers if number is not None) if numbers and None not in numbers else None


def _command(words: object) -> str | None:
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return None
    return spell_command(words)


def _versions(values: object) -> str | None:
    return ", ".join(f"{name} {value}" for name, value in values.items()) if isinstance(values, dict) else None
