"""A record that says nothing: what a test does not care for."""

from __future__ import annotations

from typing import get_args, get_type_hints

from trifold.evaluation.records import Record

BLANK = {name: None if type(None) in get_args(kind) else kind() for name, kind in get_type_hints(Record).items()}
