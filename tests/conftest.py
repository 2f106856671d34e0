"""What the tests share: random structures, and the naive forms of what the package computes in bulk."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile("trifold", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trifold")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Tests run beside each other on few cores; one thread each is fastest."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("TRIFOLD_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
