"""Pages of a CUDA device's memory that cross processes as a file descriptor, mapped between addresses that no code may touch.

CUDA driver API, "Virtual Memory Management": what is created with an exportable handle can be mapped by any process that holds its
descriptor, with rights of its own, through namespaces, and without either process's allocator. Rights belong to a mapping: code that knows
the driver could map the pages anew with more, so the judge looks at what workers may not write as well.
"""

from __future__ import annotations

import ctypes
import functools
import os
from contextlib import suppress

import torch

# cuda.h: CUmemAllocationHandleType, CUmemLocationType, CUmemAllocationType, CUmemAccess_flags
_POSIX_DESCRIPTOR, _ON_DEVICE, _PINNED = 1, 1, 1
_READ, _READ_WRITE = 1, 3


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32", ctypes.c_void_p),
        ("compression", ctypes.c_ubyte),
        ("rdma", ctypes.c_ubyte),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 4),
    )


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class Pages:
    """`size` bytes of the current device, zeroed or shared, until the last tensor on them has gone or `close` is called."""

    def __init__(self, handle: ctypes.c_uint64, size: int, is_writable: bool) -> None:
        """Maps what the handle stands for; raises OSError where the driver refuses."""
        self.size, self._handle = size, handle
        self._reserved = size + 2 * page()
        base = ctypes.c_uint64()
        _ask("cuMemAddressReserve", ctypes.byref(base), _size(self._reserved), _size(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
        self._base: int | None = base.value
        self.address = base.value + page()
        _ask("cuMemMap", ctypes.c_uint64(self.address), _size(size), _size(0), handle, ctypes.c_uint64(0))
        rights = _Access(_Location(_ON_DEVICE, torch.cuda.current_device()), _READ_WRITE if is_writable else _READ)
        _ask("cuMemSetAccess", ctypes.c_uint64(self.address), _size(size), ctypes.byref(rights), _size(1))

    @classmethod
    def create(cls, size: int) -> Pages:
        """New memory, writable; `size` must be a multiple of `page()`. Raises OSError where there is not so much."""
        handle = ctypes.c_uint64()
        _ask("cuMemCreate", ctypes.byref(handle), _size(size), ctypes.byref(_properties()), ctypes.c_uint64(0))
        return cls(handle, size, is_writable=True)

    @classmethod
    def receive(cls, descriptor: int, size: int, is_writable: bool) -> Pages:
        """What another process exported. Takes the descriptor over and closes it."""
        handle = ctypes.c_uint64()
        page()  # starts the driver
        try:
            _ask("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), _POSIX_DESCRIPTOR)
        finally:
            os.close(descriptor)
        return cls(handle, size, is_writable)

    def export(self) -> int:
        """A descriptor that stands for the memory."""
        descriptor = ctypes.c_int()
        _ask("cuMemExportToShareableHandle", ctypes.byref(descriptor), self._handle, _POSIX_DESCRIPTOR, ctypes.c_uint64(0))
        return descriptor.value

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {"shape": (self.size,), "typestr": "|u1", "data": (self.address, False), "version": 3}

    def bytes(self) -> torch.Tensor:
        """All of it as a uint8 tensor, which keeps it mapped."""
        return torch.as_tensor(self, device="cuda")

    def close(self) -> None:
        """Unmaps it once all work on the device is done; tensors on it must not be used any more."""
        base, self._base = self._base, None
        if base is None:
            return
        with suppress(RuntimeError, OSError):  # after a fault the device does nothing more for this process, and the memory goes with it
            torch.cuda.synchronize()
            _ask("cuMemUnmap", ctypes.c_uint64(self.address), _size(self.size))
            _ask("cuMemAddressFree", ctypes.c_uint64(base), _size(self._reserved))
            _ask("cuMemRelease", self._handle)

    def __del__(self) -> None:
        if getattr(self, "_base", None) is not None:
            self.close()


@functools.cache
def page() -> int:
    """Bytes of the smallest piece that can be mapped (2 MiB on an H200); starts the driver in this process."""
    torch.cuda.synchronize()
    found = ctypes.c_size_t()
    _ask("cuMemGetAllocationGranularity", ctypes.byref(found), ctypes.byref(_properties()), 0)
    return found.value


def _properties() -> _Properties:
    return _Properties(_PINNED, _POSIX_DESCRIPTOR, _Location(_ON_DEVICE, torch.cuda.current_device()), None)


def _size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _ask(name: str, *arguments: object) -> None:
    code = getattr(_driver(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorName(code, ctypes.byref(text))
        raise OSError(f"{name}: {(text.value or b'error %d' % code).decode()}")
