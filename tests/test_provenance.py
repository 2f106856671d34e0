"""What records say of the machine and of the source."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trifold import provenance


def test_the_version_tells_one_source_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "trifold"
    shutil.copytree(
        Path(provenance.__file__).parent, package, ignore=shutil.ignore_patterns("pretrained", "__pycache__")
    )
    here = provenance.source_version()
    monkeypatch.setattr(provenance, "__file__", str(package / "provenance.py"))
    assert provenance.source_version() == here
    (package / "nn" / "readout.py").write_text("# another one\n")
    there = provenance.source_version()
    assert there != here and there.partition("+")[0] == here.partition("+")[0]
