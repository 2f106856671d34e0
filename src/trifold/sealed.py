"""JSON that is read with care, and seals: a checksum in a file over all of the file.

The first entry of a sealed JSON object is "sha256": the hash of the whole file, with zeros in the place of its digits.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")

SEAL = "sha256"
BLANK = "0" * 64

MAX_BYTES = 2**24
"""How long a JSON text may be: that of the largest shipped model has 17 KB."""

MAX_DEPTH = 30
"""How deep its lists and objects may be nested: those of Trifold's own files are at most 6 deep."""


class Damaged(ValueError):
    """A file does not hold what Trifold writes; the message says in what way."""


def parse_object(text: str | bytes) -> dict[str, Any]:
    """The object that a JSON text holds; anything that Trifold would not write is ``Damaged``.

    >>> parse_object('{"dim": 64}')
    {'dim': 64}
    """
    if len(text) > MAX_BYTES:
        raise Damaged(f"it has a JSON text of {len(text):,} bytes")
    try:
        found = json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_distinct)
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged("it has a text that is not JSON") from error
    except RecursionError as error:
        raise Damaged("it has JSON that is nested too deep") from error
    if not isinstance(found, dict):
        raise Damaged("it has a JSON text that is no object")
    level: list[dict[str, Any] | list[Any]] = [found]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Damaged("it has JSON that is nested too deep")
        inner = [value for item in level for value in (item.values() if isinstance(item, dict) else item)]
        level = [value for value in inner if isinstance(value, (dict, list))]
    return found


def fill(kind: type[T], values: object) -> T:
    """A dataclass of numbers and texts from JSON, or ``Damaged`` if a field is not its own, or not of its type."""
    types = _types(kind)  # type: ignore[arg-type]  # a class is hashable
    if not isinstance(values, dict) or not values.keys() <= types.keys():
        raise Damaged(f"it has other fields than those of {kind.__name__}")
    for name, value in values.items():
        is_number = type(value) is int and float in types[name]
        if type(value) not in types[name] and not is_number:
            raise Damaged(f"its {name} is of another type")
        if type(value) is int and abs(value) >= 2**63:
            raise Damaged(f"its {name} is too large")
    return kind(**values)


def write_object(values: dict[str, Any]) -> str:
    """An object as JSON text, its seal still blank: ``seal`` fills it in."""
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    return f'{{"{SEAL}": "{BLANK}"' + (f", {text[1:]}" if values else "}")


def seal(content: bytes) -> bytes:
    """The content of a file with its seal, which is the first of it that looks like a blank one.

    >>> parse_object(seal(write_object({"states": 9}).encode())).keys()
    dict_keys(['sha256', 'states'])
    """
    return content.replace(BLANK.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


def check_seal(digest: object, start: bytes, rest: bytes | bytearray = b"") -> None:
    """Raise unless this is the seal of a file; the file is given in two parts, and its seal is in the first."""
    found = start.find(digest.encode()) if isinstance(digest, str) and len(digest) == len(BLANK) else -1
    if found >= 0:
        actual = hashlib.sha256(start[:found] + BLANK.encode() + start[found + len(BLANK) :])
        actual.update(rest)
        if actual.hexdigest() == digest:
            return
    raise Damaged("its content does not have the checksum that was written with it")


@cache
def _types(kind: type) -> dict[str, tuple[type, ...]]:
    """The types that each field may have."""
    return {name: get_args(hint) or (hint,) for name, hint in get_type_hints(kind).items()}


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Damaged(f"it has the number {number:g}")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Damaged("it has an object with a name twice")
    return found
