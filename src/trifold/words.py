"""Numbers with their nouns: one problem, two problems."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural where there is not one.

    >>> counted(1, "problem"), counted(1200, "state")
    ('1 problem', '1,200 states')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
