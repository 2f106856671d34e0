"""What ran where, for records: the source, the processor, and a command without the places of programs."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path


def source_version() -> str:
    """The version of Trifold, and after a plus the first digits of a hash of its source."""
    folder, digest = Path(__file__).parent, hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"\0{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes())
    return f"{version('trifold')}+{digest.hexdigest()[:8]}"


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
