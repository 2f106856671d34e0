"""Tensors and a JSON header in one sealed file of the safetensors format, read without trust and without torch.

The format: eight bytes with the length of a JSON text; the text, with the type, shape and place of each tensor, and our
header as text in its metadata; then the bytes of all tensors, end to end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from trifold.errors import TrifoldError
from trifold.files import open_regular, write_whole
from trifold.sealed import MAX_BYTES, SEAL, Damaged, check_seal, parse_object, seal, write_object

METADATA = "__metadata__"
KEY = "trifold"

WIDTHS = {
    "BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2, "U32": 4, "I32": 4, "F32": 4,
    "U64": 8, "I64": 8, "F64": 8,
}  # fmt: skip
"""The bytes of a number of each type."""

MAX_RANK = 8


class Entry(NamedTuple):
    """The type and shape of a tensor, and the position of its first byte among those of all tensors."""

    dtype: str
    shape: tuple[int, ...]
    start: int

    @property
    def numbers(self) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.shape)

    @property
    def stop(self) -> int:
        """The byte after its last."""
        return self.start + self.numbers * WIDTHS[self.dtype]


@dataclass
class TensorFile:
    """An open file, of which only the texts are read.

    header   what was written with the tensors
    entries  its tensors
    sealed   whether it has a seal; if so, ``read`` checks it
    """

    header: dict[str, Any]
    entries: dict[str, Entry]
    sealed: bool
    file: IO[bytes]
    start: bytes
    digest: object

    def read(self) -> bytearray:
        """The bytes of all tensors."""
        data = bytearray(max((entry.stop for entry in self.entries.values()), default=0))
        if self.file.readinto(data) != len(data):  # type: ignore[attr-defined]
            raise Damaged("it was cut while it was read")
        if self.sealed:
            check_seal(self.digest, self.start, data)
        return data


def write_tensors(path: Path, save: Callable[..., bytes], tensors: dict[str, Any], header: dict[str, Any]) -> None:
    """Write tensors and header, whole or not at all; ``save`` is that of safetensors for this kind of tensors."""
    try:
        text = write_object(header)
    except ValueError as error:
        raise TrifoldError(f"this cannot be written: {error}", place=str(path)) from error
    if len(text) > MAX_BYTES // 2:  # as text in a text it is longer, and must be readable
        raise TrifoldError("the domain, or what else describes the tensors, is too long for a file", place=str(path))
    write_whole(path, seal(save(tensors, {KEY: text})))


@contextmanager
def open_tensors(path: Path) -> Iterator[TensorFile]:
    """Open a file and read its texts; what is wrong with them is ``Damaged``, and that it cannot be read an OSError."""
    with open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        length = file.read(8)
        bytes_of_text = int.from_bytes(length, "little")
        if len(length) < 8 or bytes_of_text > min(size - 8, MAX_BYTES):
            raise Damaged("it does not start as a safetensors file does")
        text = file.read(bytes_of_text)
        outline = parse_object(text)
        metadata = outline.pop(METADATA, None)
        if not isinstance(metadata, dict) or not isinstance(metadata.get(KEY), str):
            raise Damaged("it has no header of Trifold")
        header = parse_object(metadata[KEY])
        sealed, digest = SEAL in header, header.pop(SEAL, None)
        entries = {name: _entry(value) for name, value in outline.items()}
        end = 0
        for entry in sorted(entries.values(), key=lambda entry: (entry.start, entry.stop)):
            if entry.start != end:
                raise Damaged("its tensors do not lie end to end")
            end = entry.stop
        if 8 + len(text) + end != size:
            raise Damaged(f"it has {size:,} bytes, and its tensors end at {8 + len(text) + end:,}")
        yield TensorFile(header, entries, sealed, file, length + text, digest)


def _entry(value: object) -> Entry:
    """A tensor's entry in the text, checked."""
    match value:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(stop)], **rest} if not rest:
            fits = dtype in WIDTHS and len(shape) <= MAX_RANK and all(type(n) is int and 0 <= n < 2**48 for n in shape)
            if fits and start >= 0:
                entry = Entry(dtype, tuple(shape), start)
                if entry.stop == stop:
                    return entry
    raise Damaged("it has a tensor without a type, shape and place that fit together")
