"""A page: one HTML file with its style, its script and its data inside, which asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from trifold.errors import TrifoldError
from trifold.explanation import Explanation
from trifold.pages.trace import trace_data
from trifold.pddl import Executor, Problem

SCRIPTS = (
    "svg.js",
    "data.js",
    "draw-board.js",
    "draw-boxes.js",
    "draw-graph.js",
    "draw-towers.js",
    "chart.js",
    "around.js",
    "panels.js",
    "main.js",
)
"""In this order, as one script."""

MOST_BESIDE = 2
"""Traces on a page: more would be too narrow to read."""

ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def trace_page(problem: Problem | Executor, *explanations: Explanation) -> str:
    """The page of one explanation, or of two of the same problem beside each other: HTML that needs no other file.

    It shows the plan step by step with the states drawn, V and V* along the way, all applicable actions, and the pairs
    that R-GNN[t] composes around an object. Names from problems and models are data to it, and cannot run.

    >>> from trifold import explain, load_domain, load_problem
    >>> problem = load_problem(load_domain("gripper/domain.pddl"), "problem.pddl")
    >>> page = trace_page(problem, explain("model.safetensors", problem))
    >>> page.count("<script"), "https:" in page, page[:15]
    (2, False, '<!doctype html>')
    """
    if not 1 <= len(explanations) <= MOST_BESIDE:
        raise TrifoldError(f"a page shows one trace or two, not {len(explanations)}", remedy="make several pages")
    if len({(one.domain, one.problem) for one in explanations}) > 1:
        raise TrifoldError("traces beside each other are of one problem", remedy="explain the same problem twice")
    executor = problem if isinstance(problem, Executor) else problem.executor
    title = f"{explanations[0].problem}: a trace"
    return _fill("trace.html", title, trace_data(executor, explanations))


def _fill(template: str, title: str, data: dict[str, Any]) -> str:
    style = _read("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(map(_read, SCRIPTS)) + "})();\n"
    parts = {
        "title": "".join(f"&#{ord(letter)};" if letter in "<>&\"'" else letter for letter in title),
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "data": embedded(data),
    }
    page, *rest = _read(template).split("{{")
    for piece in rest:  # in one pass: what is put in is not looked at again
        name, _, text = piece.partition("}}")
        page += parts[name] + text
    return page


def embedded(data: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end that element, or begin another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(ESCAPES).encode("utf-8", "backslashreplace").decode()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return files("trifold.pages").joinpath(name).read_text(encoding="utf-8")
