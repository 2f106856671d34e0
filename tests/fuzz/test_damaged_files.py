"""A short run of the harness of damaged files, and headers by hypothesis."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.damaged_files import ODD, Damage, TensorFile, Workshop, run, try_one

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("config", "signature", "domain", "training_atoms", "provenance", "format", "kind")
INNER = {
    "config": ("encoder", "t", "dim", "layers", "sharpness"),
    "provenance": ("settings", "environment", "selected", "data", "training", "command", "preset"),
}
places = st.sampled_from([(field,) for field in FIELDS] + [(field, name) for field in INNER for name in INNER[field]])


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIFOLD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Workshop(tmp_path_factory.mktemp("workshop"))


def test_damage_is_refused_or_mended(workshop: Workshop) -> None:
    figures = run(workshop, count=30, seed=0)
    assert sum(row["tried"] for row in figures.values()) == 30
    assert not any(row["traceback"] + row["silent"] for row in figures.values()), figures


@settings(max_examples=15)
@given(place=places, value=json_values | st.sampled_from(ODD))
def test_a_model_with_any_header_is_refused_or_usable(
    workshop: Workshop, place: tuple[str, str] | tuple[str], value: Any
) -> None:
    whole = TensorFile.of((workshop.run / "model.safetensors").read_bytes())
    header = copy.deepcopy(whole.header)
    inner = header
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    content = TensorFile(whole.outline, header, whole.data).join()
    outcome, trace = try_one(workshop.read_model, Damage(content, "a header", is_edit=True))
    assert outcome in ("refused", "equal", "accepted"), trace
