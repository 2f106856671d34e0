"""What a run ran on: versions and hardware."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from trifold.hardware import processor_name, source_version


def describe_environment(device: str) -> dict[str, Any]:
    """Versions and hardware, as JSON."""
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
