"""What a run ran on: versions and hardware."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch


def describe_environment(device: str) -> dict[str, Any]:
    """Versions and hardware, as JSON."""
    packages = ("trifold", "torch", "pymimir", "numpy", "safetensors")
    return {
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
