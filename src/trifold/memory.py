"""Memory: how much is worked on at once, and the ways in which a lack of it is told, as one error.

The bounds below are for data of any size. Pieces that should fit a processor's cache are bounded where they are cut.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trifold.errors import TrifoldError

MESSAGES = 2**22
"""Messages a layer, when data is encoded piece by piece."""

MESSAGES_TO_VALUE = 2**19
"""The same when values are computed without gradients: 2**19 messages of 64 floats are 128 MiB."""

MESSAGES_TO_VALUE_ON_A_CARD = 2**22
"""The same by kernels, for which few large chunks are faster than many small ones: 1 GiB, twice."""

MESSAGES_TO_VALIDATE = 2**18
"""The same when the validation loss is measured, beside all that a training holds."""

MESSAGES_TO_COLOUR = 2**27
"""Messages a layer in all states that ``expressivity`` colours: an architecture with more is left out, and named."""

TRIPLES = 2**23
"""Triples of objects, related or not, that are encoded at once."""

TRIPLES_ON_A_CARD = 2**26
"""The same on CUDA, where few large pieces are faster than many small ones."""

MAX_TRIPLES = 100_000_000
"""Triples of objects, or triangles △, that one call of an encoder may have by default: more are refused."""

ENCODED_GIB = 0.125
"""Encoded data that is kept on a CPU, where a step takes far longer than encoding its batch: little is to gain."""

ENCODED_SHARE_OF_A_CARD = 0.25
"""The share of a card's free memory that may hold encoded data."""

STRETCH_GIB = 4.0
"""Encoded data of one stretch of a training at most: others may want the card, too."""

SIGNS = (
    "bad_alloc",
    "MemoryError",
    "annot allocate memory",  # the operating system, with a capital or without
    "can't allocate memory",  # torch
    "out of memory",  # CUDA
    "ALLOC_FAILED",  # CUDA's libraries
    "failed to map segment",  # the loader
    "can't start new thread",
    "Thread creation failed",  # OpenMP
    "error return without exception set",  # Python, where memory ran out before it could say so
    "pthread_create failed",  # BLAS, twice
    "Memory allocation still failed",
)


class OutOfMemory(TrifoldError):
    """There is not enough memory for what was asked."""

    exit_code = 7


def tells_of_memory(text: str) -> bool:
    """Whether a text says that memory has run out."""
    return any(sign in text for sign in SIGNS)


def lacks_memory(error: BaseException) -> bool:
    """Whether an error, or one that it came from, says that memory has run out.

    >>> lacks_memory(MemoryError()), lacks_memory(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"))
    (True, True)
    >>> lacks_memory(RuntimeError("sizes do not match"))
    False
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or tells_of_memory(_without_names(seen)):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _without_names(error: BaseException) -> str:
    """What an error says, but for the names of files: a file may have any name."""
    if isinstance(error, TrifoldError):
        return ""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error)


@contextmanager
def memory_errors(remedy: Callable[[], str]) -> Iterator[None]:
    """Tell of a lack of memory in one way, with what to do about it."""
    try:
        yield
    except Exception as error:
        if not lacks_memory(error):
            raise
        raise OutOfMemory("there is not enough memory", remedy=remedy()) from error
