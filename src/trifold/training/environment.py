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
    versions = {"trifold": source_version()}
    for package in ("torch", "triton", "pymimir", "numpy", "safetensors"):
        with suppress(PackageNotFoundError):  # triton comes with builds of torch for CUDA alone
            versions[package] = version(package)
    return {
        "python": platform.python_version(),
        "versions": versions,
        "platform": platform.platform(),
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
    }
