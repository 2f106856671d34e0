"""The skeleton of pages: one HTML file with its style, script and data inside, which asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Kind:
    """What pages of one kind are made of, by the names of its parts.

    body     what stands below the header
    styles   in this order, as one style
    scripts  in this order, as one script
    """

    body: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]

    @property
    def style(self) -> str:
        """The style of such a page."""
        return "".join(map(read_part, self.styles))

    @property
    def script(self) -> str:
        """The script of such a page."""
        return '"use strict";\n(() => {\n' + "\n".join(map(read_part, self.scripts)) + "})();\n"


def fill(kind: Kind, title: str, data: Any, *, within: Sequence[Kind] = ()) -> str:
    """A page: HTML whose content security policy names its own script and style, and those of the pages within it."""
    kinds = [kind, *within]
    scripts = " ".join(f"'{_hash(one.script)}'" for one in kinds)
    styles = " ".join(f"'{_hash(one.style)}'" for one in kinds)
    policy = f"default-src 'none'; script-src {scripts}; style-src {styles}; base-uri 'none'; form-action 'none'"
    parts = {
        "title": "".join(f"&#{ord(letter)};" if letter in "<>&\"'" else letter for letter in title),
        "policy": policy,
        "style": kind.style,
        "body": read_part(kind.body),
        "script": kind.script,
        "data": embedded(data),
    }
    page, *rest = read_part("skeleton.html").split("{{")
    for piece in rest:  # in one pass: what is put in is not looked at again
        name, _, text = piece.partition("}}")
        page += parts[name] + text
    return page


def embedded(data: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end that element, or begin another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(ESCAPES).encode("utf-8", "backslashreplace").decode()


def read_part(name: str) -> str:
    """A file of this package that goes into pages as it is."""
    return files("trifold.pages").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
