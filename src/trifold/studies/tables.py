"""Tables of a TOML file whose keys are taken one by one: a wrong value is refused with its key, and an unknown key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trifold.errors import TrifoldError, did_you_mean

KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}
"""What a value can be, in words."""


class Table:
    """A table, and what it is called in errors: nothing for the whole file, else such as ``[run]``."""

    def __init__(self, values: object, name: str = "") -> None:
        if not isinstance(values, Mapping):
            raise TrifoldError(f"{name} is a table, not {values!r:.60}", remedy=f"write {name}, and its keys below it")
        self.values, self.name, self.known = dict(values), name, list[str]()

    def spell(self, key: str) -> str:
        """What a key of it is called in errors."""
        return f"{key} of {self.name}" if self.name else key

    def take(self, key: str, *kinds: type, default: Any = None) -> Any:
        """The value of a key, which is of one of these types, or the default if it is not there."""
        self.known.append(key)
        if key not in self.values:
            return default
        value = self.values.pop(key)
        if float in kinds and type(value) is int:
            return float(value)
        if type(value) not in kinds:
            words = " or ".join(sorted({KINDS[kind] for kind in kinds}))
            raise TrifoldError(f"{self.spell(key)} is {words}, not {value!r:.60}", remedy=f"change {key}")
        return value

    def number(self, key: str, kind: type, least: float, default: Any = None) -> Any:
        """A number that is not less than this; inf, where it can be had, is the same as none."""
        value = self.take(key, *{kind, float}, default=default)
        if value is None or value == math.inf:
            return None
        if not value >= least or (kind is int and not float(value).is_integer()):
            least_of_all = f"at least {least:g}" if least else "not negative"
            raise TrifoldError(
                f"{self.spell(key)} is {KINDS[kind]}, {least_of_all}, not {value:g}", remedy=f"change {key}"
            )
        return kind(value)

    def texts(self, key: str, default: Any = None) -> tuple[str, ...] | Any:
        """A list of texts, each given once."""
        found = self.take(key, list, default=default)
        if found is default:
            return default
        if not all(isinstance(one, str) for one in found) or len(set(found)) < len(found):
            raise TrifoldError(f"{self.spell(key)} is a list of texts, each once, not {found!r:.60}")
        return tuple(found)

    def close(self) -> None:
        """Raise if a key was not taken."""
        for key in self.values:
            of = f"{self.name} has" if self.name else "studies have"
            raise TrifoldError(f"{of} no key {key!r}", remedy=did_you_mean(key, self.known))


def named(values: object, key: str) -> dict[str, Any]:
    """A list of texts or a table as a table: what is listed is its own name."""
    if isinstance(values, list) and all(isinstance(one, str) for one in values):
        if len(set(values)) < len(values):
            raise TrifoldError(f"{key} has something twice: {values!r:.60}", remedy="name it once")
        return {one: one for one in values}
    if isinstance(values, Mapping):
        return dict(values)
    raise TrifoldError(
        f"{key} is a list of texts or a table, not {values!r:.60}", remedy=f'such as {key} = ["…"], or [{key}]'
    )
