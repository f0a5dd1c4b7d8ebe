"""Tensors in memory that the judge shares with a worker: a sealed memfd or a CUDA device's pages in the judge, pages between guard pages in the worker.

An arena holds one tensor, or as many as timing needs sets, one after another. With one set the tensor's end is the end of the last page
(to 64 bytes, the alignment that torch gives its tensors on a CPU), so that reading or writing past it meets a page without rights. With several sets
each starts at a multiple of 64 as well, and the guard pages stand around the whole. What belongs to no set is
poisoned, and the judge looks whether the poison is still there. Arenas of inputs are sealed against any writing but the judge's own; on a device, where
there are no seals, they are mapped read-only.
"""

from __future__ import annotations

import ctypes
import fcntl
import math
import mmap
import os
from dataclasses import asdict, dataclass
from typing import Any

import torch

from . import device_memory

PAGE = mmap.PAGESIZE
ALIGNMENT, DEVICE_ALIGNMENT = 64, 256
"""Every tensor starts at a multiple, and a candidate may count on it. 256: what cudaMalloc gives (CUDA C++ Programming Guide, "Device Memory Accesses")."""
# From linux/fcntl.h; Python names the last one only from 3.15 on.
_F_ADD_SEALS, _SEAL, _SHRINK, _GROW, _FUTURE_WRITE = 1033, 0x1, 0x2, 0x4, 0x10


def home(device: str) -> str:
    """Where judge and workers share the memory of code that runs on `device`: there, or on the CPU, and then the worker copies."""
    return device if device == "cuda" else "cpu"


@dataclass(frozen=True)
class Layout:
    """Where the sets of an arena lie; travels to the worker as JSON."""

    shape: tuple[int, ...]
    dtype: str
    sets: int
    nbytes: int
    """Of one set's tensor."""
    stride: int
    """Bytes between the starts of two sets."""
    offset: int
    """Bytes before the first set."""
    size: int
    """Bytes of the arena, whole pages."""
    home: str

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def start(self, index: int) -> int:
        return self.offset + index * self.stride

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, entries: dict[str, Any]) -> Layout:
        return cls(**{**entries, "shape": tuple(entries["shape"])})


def lay_out(shape: tuple[int, ...], dtype: str, sets: int = 1, home: str = "cpu") -> Layout:
    """The layout of `sets` contiguous tensors."""
    alignment, page = (ALIGNMENT, PAGE) if home == "cpu" else (DEVICE_ALIGNMENT, device_memory.page())
    nbytes = size_of(shape, dtype)
    stride = _round_up(nbytes, alignment)
    size = max(page, _round_up(stride * sets, page))
    return Layout(tuple(shape), dtype, sets, nbytes, stride, size - stride * sets, size, home)


def size_of(shape: tuple[int, ...], dtype: str) -> int:
    """Bytes of a contiguous tensor."""
    return math.prod(shape) * _torch_dtype(dtype).itemsize


class Arena:
    """The judge's side of shared memory: it may write at any time, the worker only where `is_writable`."""

    def __init__(self, layout: Layout, is_writable: bool) -> None:
        self.layout = layout
        self.is_writable = is_writable
        self._poison = 0
        if layout.home == "cpu":
            self.descriptor = os.memfd_create("taskpack", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(self.descriptor, layout.size)
            self._bytes = torch.frombuffer(mmap.mmap(self.descriptor, layout.size), dtype=torch.uint8)
            seals = _SEAL | _SHRINK | _GROW | (0 if is_writable else _FUTURE_WRITE)
            fcntl.fcntl(self.descriptor, _F_ADD_SEALS, seals)  # a worker that shrank the file would crash the judge
        else:
            pages = device_memory.Pages.create(layout.size)
            self.descriptor, self._bytes = pages.export(), pages.bytes().zero_()

    def tensor(self, index: int = 0) -> torch.Tensor:
        """The set's tensor itself, not a copy."""
        layout = self.layout
        if not layout.numel:
            return self._bytes.new_empty(layout.shape, dtype=_torch_dtype(layout.dtype))
        raw = self._bytes[layout.start(index) : layout.start(index) + layout.nbytes]
        return raw.view(_torch_dtype(layout.dtype)).reshape(layout.shape)

    def stack(self, count: int) -> torch.Tensor:
        """The first `count` sets as one tensor of shape [count, …]; itself, not a copy."""
        layout, dtype = self.layout, _torch_dtype(self.layout.dtype)
        if not layout.numel:
            return self._bytes.new_empty((count, *layout.shape), dtype=dtype)
        strides = [math.prod(layout.shape[place + 1 :]) for place in range(len(layout.shape))]
        raw = self._bytes[layout.offset : layout.start(count)].view(dtype)
        return raw.as_strided((count, *layout.shape), (layout.stride // dtype.itemsize, *strides))

    def poison(self, pattern: int, sets: int) -> None:
        """Fills the first `sets` sets and everything round them with a 64-bit pattern; memory of later sets stays unused."""
        end = self.layout.size if sets == self.layout.sets else self.layout.start(sets)
        self._bytes[: end - end % 8].view(torch.int64).fill_(pattern)
        self._poison = pattern

    def holds(self, sets: torch.Tensor, first: int = 0) -> bool:
        """Whether the sets from `first` on hold exactly the bytes of `sets`, of shape [count, …] and the arena's dtype."""
        layout, sets = self.layout, sets.contiguous()
        if layout.home != "cpu":
            return torch.equal(_as_integers(self.stack(first + len(sets))[first:]), _as_integers(sets))
        ours, theirs = self._bytes.data_ptr() + layout.start(first), sets.data_ptr()
        return not any(_memcmp(ours + index * layout.stride, theirs + index * layout.nbytes, layout.nbytes) for index in range(len(sets)))

    def is_untouched(self, index: int = 0) -> bool:
        """Whether the set still holds nothing but poison."""
        layout = self.layout
        raw = self._bytes[layout.start(index) : layout.start(index) + layout.nbytes]
        return bool(layout.nbytes) and bool((raw == self._phase(layout.nbytes)).all())

    def slack_damage(self, sets: int = 1) -> str | None:
        """Where poison round the first `sets` sets has been overwritten: "before" or "after" a tensor; None where all is well."""
        layout = self.layout
        if bool((self._bytes[: layout.offset] != self._phase(layout.offset)).any()):
            return "before"
        if not layout.stride:
            return None
        rows = self._bytes[layout.offset : layout.start(sets)].view(sets, layout.stride)[:, layout.nbytes :]
        expected = self._phase(layout.stride)[layout.nbytes :]
        return "after" if rows.numel() and bool((rows != expected).any()) else None

    def _phase(self, length: int) -> torch.Tensor:
        """The poison's first `length` bytes; sets and strides start at multiples of 8."""
        words = self._bytes.new_full((length // 8 + 1,), self._poison, dtype=torch.int64)
        return words.view(torch.uint8)[:length]

    def close(self) -> None:
        """The memory goes when the last tensor on it does."""
        os.close(self.descriptor)


class Mapping:
    """The worker's side: the arena between two pages that may not be touched."""

    def __init__(self, descriptor: int, layout: Layout, is_writable: bool) -> None:
        """Takes the descriptor over and closes it."""
        self.layout = layout
        self._pages = device_memory.Pages.receive(descriptor, layout.size, is_writable) if layout.home != "cpu" else None
        if self._pages:
            self._bytes = self._pages.bytes()
            return
        self._length = layout.size + 2 * PAGE
        self._base = _mmap(None, self._length, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE, -1)
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if is_writable else 0)
        _mmap(self._base + PAGE, layout.size, protection, mmap.MAP_SHARED | _MAP_FIXED, descriptor)
        os.close(descriptor)
        self._advice = _MADV_POPULATE_WRITE if is_writable else _MADV_POPULATE_READ

    def touch(self, sets: int) -> None:
        """Enters the pages of the first `sets` sets into the page table, so that no timed call pays for it. Does nothing on a device, and before Linux 5.14."""
        if not self._pages:
            _libc.madvise(ctypes.c_void_p(self._base + PAGE), ctypes.c_size_t(self.layout.start(sets)), self._advice)

    def tensor(self, index: int = 0) -> torch.Tensor:
        """The set's tensor on the shared pages; it must not outlive the mapping."""
        layout, start = self.layout, self.layout.start(index)
        dtype = _torch_dtype(layout.dtype)
        if not layout.numel:
            return torch.empty(layout.shape, dtype=dtype, device=layout.home)
        if self._pages:
            raw = self._bytes[start : start + layout.nbytes].view(dtype)
        else:
            raw = torch.frombuffer((ctypes.c_char * layout.nbytes).from_address(self._base + PAGE + start), dtype=dtype)
        return raw.reshape(layout.shape)

    def close(self) -> None:
        if self._pages:
            self._pages.close()
        else:
            _libc.munmap(ctypes.c_void_p(self._base), ctypes.c_size_t(self._length))


_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000
_MADV_POPULATE_READ, _MADV_POPULATE_WRITE = 22, 23
_libc = ctypes.CDLL(None, use_errno=True)
_memcmp = _libc.memcmp
_memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def _mmap(address: int | None, length: int, protection: int, flags: int, descriptor: int) -> int:
    found: int | None = _libc.mmap(address, length, protection, flags, descriptor, 0)
    if found is None or found == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "mmap")
    return found


def _torch_dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _as_integers(tensor: torch.Tensor) -> torch.Tensor:
    """The same bytes, where NaN is what it is."""
    return tensor.view(_INTEGERS[tensor.dtype.itemsize])


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
