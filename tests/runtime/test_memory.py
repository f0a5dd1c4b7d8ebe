"""Shared memory: layouts, poison, slack, seals and guard pages."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from taskpack.runtime.memory import PAGE, Arena, Layout, Mapping, lay_out


@given(shape=st.lists(st.integers(0, 40), max_size=3), dtype=st.sampled_from(["float32", "float16", "int8", "bool", "float64"]), sets=st.integers(1, 9))
def test_layouts(shape: list[int], dtype: str, sets: int) -> None:
    layout = lay_out(tuple(shape), dtype, sets)

    assert layout.size % PAGE == 0
    assert layout.start(0) % 64 == 0
    assert layout.stride >= layout.nbytes
    assert layout.start(sets) == layout.size, "the last set ends where the guard page begins"
    assert sets > 1 or layout.size - layout.start(0) - layout.nbytes < 64
    assert sets == 1 or layout.start(1) % 64 == 0
    assert Layout.from_dict(layout.to_dict()) == layout


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "uint8"])
@pytest.mark.parametrize("shape", [(), (1,), (7, 5), (0, 3), (64, 64)])
@pytest.mark.parametrize("sets", [1, 3])
def test_both_sides_see_the_same(dtype: str, shape: tuple[int, ...], sets: int) -> None:
    layout = lay_out(shape, dtype, sets)
    arena = Arena(layout, is_writable=True)
    mapping = Mapping(os.dup(arena.descriptor), layout, is_writable=True)
    for index in range(sets):
        mapping.tensor(index).fill_(index)
        assert torch.equal(arena.tensor(index), torch.full(shape, index, dtype=getattr(torch, dtype)))
    assert torch.equal(arena.stack(sets), torch.stack([arena.tensor(index) for index in range(sets)]))
    mapping.close()
    arena.close()


@pytest.mark.parametrize("sets", [1, 4])
def test_poison_and_slack(sets: int) -> None:
    arena = Arena(lay_out((3, 5), "float32", sets), is_writable=True)
    arena.poison(0x0123456789ABCDEF, sets)
    assert all(arena.is_untouched(index) for index in range(sets))
    for index in range(sets):
        arena.tensor(index).zero_()
        assert not arena.is_untouched(index)
    assert arena.slack_damage(sets) is None
    last = arena.layout.start(sets - 1) + arena.layout.nbytes
    arena._bytes[last] = 0
    assert arena.slack_damage(sets) == "after"
    arena.poison(5, sets)
    arena._bytes[arena.layout.offset - 1] = 1
    assert arena.slack_damage(sets) == "before"
    arena.close()


def test_an_input_cannot_be_written_by_who_holds_its_descriptor() -> None:
    arena = Arena(lay_out((4,), "float32"), is_writable=False)
    arena.tensor().fill_(3)
    with pytest.raises(PermissionError):
        mmap.mmap(arena.descriptor, PAGE)
    with pytest.raises(PermissionError):
        os.pwrite(arena.descriptor, b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(arena.descriptor, 0)
    arena.close()


@pytest.mark.parametrize(("index", "writes"), [(16, True), (16, False), (-1025, True), (0, True)])
def test_guard_pages(index: int, writes: bool) -> None:
    """One element past the end, a page before the start, and a write to an input: each kills the process that does it."""
    layout = lay_out((16,), "float32")
    arena = Arena(layout, is_writable=index != 0)
    pid = os.fork()
    if not pid:
        faulthandler.disable()
        mapping = Mapping(arena.descriptor, layout, is_writable=index != 0)
        cell = ctypes.c_float.from_address(mapping.tensor().data_ptr() + 4 * index)
        if writes:
            cell.value = 1.0
        else:
            float(cell.value)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGSEGV
    arena.close()
