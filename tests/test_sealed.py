"""Seals: whatever is changed in a sealed text is noticed, and only JSON that Trifold could have written is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.sealed import BLANK, MAX_DEPTH, SEAL, Damaged, check_seal, parse_object, seal, write_object

objects = st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.lists(st.booleans()), max_size=4)


@given(objects.filter(lambda values: SEAL not in values), st.data())
def test_a_sealed_text_is_read_as_it_was_and_any_change_of_it_is_noticed(values: Any, data: st.DataObject) -> None:
    content = seal(write_object(values | {"zeros": BLANK}).encode())
    found = parse_object(content)
    digest = found.pop(SEAL)
    check_seal(digest, content)
    assert found == values | {"zeros": BLANK}

    place = data.draw(st.integers(0, len(content) - 1))
    changed = content[:place] + bytes([content[place] ^ data.draw(st.integers(1, 255))]) + content[place + 1 :]
    with pytest.raises(Damaged):
        check_seal(parse_object(changed).get(SEAL), changed)


@pytest.mark.parametrize("value", [1, "text", [1.5, None], {"a": {"b": True}}], ids=str)
def test_json_is_read_as_json_is(value: Any) -> None:
    text = json.dumps({"value": value})
    assert parse_object(text) == json.loads(text)


@pytest.mark.parametrize(
    "text", ["", "[]", "5", "{", '{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 1}', b"\xff", '{"a": ' + "9" * 5000 + "}"]
)
def test_what_trifold_would_not_write_is_not_read(text: bytes | str) -> None:
    with pytest.raises(Damaged):
        parse_object(text)


def test_nesting_has_an_end() -> None:
    def nested(depth: int) -> str:
        return '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)

    parse_object(nested(MAX_DEPTH))
    for depth in (MAX_DEPTH + 1, 500, 100_000):
        with pytest.raises(Damaged, match="too deep"):
            parse_object(nested(depth))
