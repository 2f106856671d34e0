"""Lack of memory is known by what is said of it."""

from __future__ import annotations

import pytest

from trifold.errors import TrifoldError
from trifold.memory import OutOfMemory, lacks_memory, memory_errors


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("std::bad_alloc"),
        OSError(12, "Cannot allocate memory"),
        OSError("libtorch_cuda.so: failed to map segment from shared object"),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        ImportError("libc10.so: cannot allocate memory in static TLS block"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't allocate memory: you tried …"),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("can't start new thread"),
    ],
)
def test_every_way_to_run_out_of_memory_is_one_error(error: BaseException) -> None:
    with pytest.raises(OutOfMemory, match="less") as raised, memory_errors(lambda: "less"):
        raise error
    assert raised.value.exit_code == 7
    hidden = TrifoldError("the file is damaged")
    hidden.__context__ = error
    assert lacks_memory(hidden)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("shapes differ"),
        TrifoldError("no such file", place="out of memory.pddl"),
        FileNotFoundError(2, "No such file or directory", "out of memory.pddl"),
        KeyError("a"),
    ],
)
def test_other_errors_stay_what_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, memory_errors(lambda: "less"):
        raise error
    assert raised.value is error
