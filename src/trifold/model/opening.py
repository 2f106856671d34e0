"""Opening a file of tensors without torch: only the header is read, and what is wrong is told in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trifold.errors import TrifoldError
from trifold.sealed import Damaged
from trifold.tensor_file import TensorFile, open_tensors

FORMAT = 2
"""The version of the header. A file of a newer version is refused; older ones stay readable.

Since 2 a file has a checksum, over all of it.
"""


@contextmanager
def opened(path: Path, kind: str) -> Iterator[TensorFile]:
    """A file of this kind, of which only the header is read; that it, or what is done with it, fails is a TrifoldError.

    A header is what somebody wrote: whatever goes wrong while something is made of it is the file's fault.
    """
    try:
        with open_tensors(path) as file:
            version, found = file.header.get("format"), file.header.get("kind")
            if type(version) is not int or version < 1 or not isinstance(found, str):
                raise Damaged("its header has no format and kind")
            if version > FORMAT:
                raise TrifoldError(
                    f"the file has format {version}, newer than this version's {FORMAT}",
                    place=str(path),
                    remedy="install a newer trifold",
                )
            if version > 1 and not file.sealed:
                raise Damaged("it has no checksum")
            if found != kind:
                raise TrifoldError(f"this is a {found} file, not a {kind} file", place=str(path))
            yield file
    except FileNotFoundError:
        raise TrifoldError(f"there is no {kind} file here", place=str(path), remedy="check the path") from None
    except OSError as error:
        raise TrifoldError(
            f"this {kind} file cannot be read: {error.strerror or error}", place=str(path), remedy="check the path"
        ) from error
    except TrifoldError as error:
        error.place = error.place or str(path)
        raise
    except (Damaged, LookupError, TypeError, AttributeError, ValueError, RuntimeError, ArithmeticError) as error:
        reason = str(error) if isinstance(error, Damaged) else "its weights and its header do not fit together"
        raise TrifoldError(
            f"this is not a {kind} file of trifold, or it is damaged: {reason}",
            place=str(path),
            remedy="get the file again, or train the model again",
        ) from error
