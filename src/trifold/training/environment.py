"""What a run ran on: versions and hardware."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

import torch

from trifold.hardware import processor_name


def describe_environment(device: str) -> dict[str, Any]:
    """Versions and hardware, as JSON."""
    packages = ("trifold", "torch", "pymimir", "numpy", "safetensors")
    return {
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
        "platform": platform.platform(),
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
    }
