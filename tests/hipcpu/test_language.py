"""HIP as one of the languages: built, loaded and called through the contract."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from taskpack.runtime.contract import Argument, CompileFailed, EntryMissing, Source, Unprepared
from taskpack.runtime.hipcpu.toolchain import Toolchain
from taskpack.runtime.languages import cxx, hip

ARGUMENTS = (Argument("y", "output", "int32"), Argument("n", "dim", "int64"), Argument("stream", "stream", ""))
HEAD = "#include <hip/hip_runtime.h>\n"


@pytest.fixture
def call(toolchain: Callable[..., Toolchain], tmp_path: Path) -> Callable[..., torch.Tensor]:
    """Builds kernel.hip (and other files) whose entry is f(int* y, int64_t n, hipStream_t), and calls it once."""
    cache = toolchain().cache

    def built(text: str, n: int = 64, warp_size: int = 64, **others: str) -> torch.Tensor:
        folder = tmp_path / "source"
        folder.mkdir()
        files = {"kernel.hip": HEAD + text, **{name.replace("__", "."): content for name, content in others.items()}}
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8")
        source = Source(folder, tuple(files), "f")
        y = torch.full((n,), -1, dtype=torch.int32)
        hip.load(source, hip.build(source, "cpu", warp_size, cache, tmp_path), "cpu")({}, ARGUMENTS)([y, n, None])()
        return y

    return built


ENTRY = 'extern "C" void f(int* y, int64_t n, hipStream_t stream) {{ {body} }}\n'


def test_several_files_make_one_product(call: Callable[..., torch.Tensor]) -> None:
    part = '#include "part.h"\n__global__ void k(int* y) { y[threadIdx.x] = warpSize; }\nvoid launch(int* y) { k<<<1, 64>>>(y); }\n'
    text = '#include "part.h"\n' + ENTRY.format(body="launch(y);")
    assert call(text, part__hip=part, part__h="#pragma once\n#include <hip/hip_runtime.h>\nvoid launch(int* y);\n").tolist() == [64] * 64


def test_the_warp_size_is_the_targets(call: Callable[..., torch.Tensor], toolchain: Callable[..., Toolchain]) -> None:
    toolchain(warp_size=32)
    text = "__global__ void k(int* y) { y[threadIdx.x] = warpSize; }\n" + ENTRY.format(body="k<<<1, 64>>>(y);")
    assert call(text, warp_size=32).tolist() == [32] * 64


@pytest.mark.parametrize(
    ("kernel", "launch", "words"),
    [
        ("if (threadIdx.x < 32) __syncthreads();\nelse\n __syncthreads();", "<<<1, 64>>>", ("divergent __syncthreads", "kernel.hip:2", "kernel.hip:4")),
        ("if (threadIdx.x == 3 && blockIdx.x == 1) __trap();", "<<<4, 64>>>", ("block (1,0,0)", "__trap()", "kernel.hip:2")),
        ("", "<<<1, 2048>>>", ("k: launched with 2048 threads a block, at most 1024 fit",)),
        ("", "<<<0, 64>>>", ("k: launched with an empty grid or block",)),
        ("", "<<<1, 64, 70000>>>", ("k: launched with 70000 bytes of dynamic shared memory, at most 65536 fit",)),
    ],
)
def test_what_goes_wrong_in_a_launch_is_raised_though_the_source_never_asks(
    kernel: str, launch: str, words: tuple[str, ...], call: Callable[..., torch.Tensor]
) -> None:
    with pytest.raises(hip.KernelFailed) as failed:
        call(f"__global__ void k() {{ {kernel} }}\n" + ENTRY.format(body=f"k{launch}();"))
    assert all(word in str(failed.value) for word in words)


def test_a_source_that_asks_whether_a_launch_was_refused_may_launch_another(call: Callable[..., torch.Tensor]) -> None:
    body = "k<<<1, 2048>>>(y); if (hipGetLastError() != hipSuccess) k<<<1, 64>>>(y);"
    assert call("__global__ void k(int* y) { y[threadIdx.x] = 7; }\n" + ENTRY.format(body=body)).tolist() == [7] * 64


def test_a_fault_is_told_although_the_source_swallows_it(call: Callable[..., torch.Tensor]) -> None:
    with pytest.raises(hip.KernelFailed, match="__trap"):
        call("__global__ void k() { __trap(); }\n" + ENTRY.format(body="k<<<1, 64>>>(); (void)hipDeviceSynchronize(); (void)hipGetLastError();"))


def test_a_fault_is_told_although_another_host_thread_launched(call: Callable[..., torch.Tensor]) -> None:
    with pytest.raises(hip.KernelFailed, match="__trap"):
        call("#include <thread>\n__global__ void k() { __trap(); }\n" + ENTRY.format(body="std::thread([=] { k<<<1, 64>>>(); }).join();"))


def test_a_byte_order_mark_is_no_part_of_the_source(call: Callable[..., torch.Tensor], tmp_path: Path) -> None:
    text = '#include "part.h"\n__global__ void k(int* y) { y[threadIdx.x] = VALUE; }\n' + ENTRY.format(body="k<<<1, 64>>>(y);")
    assert call(text, part__h="\ufeff#define VALUE 3\n").tolist() == [3] * 64


def test_vectors_of_clang_are_no_scalars(call: Callable[..., torch.Tensor]) -> None:
    with pytest.raises(CompileFailed, match=r"kernel\.hip:3: error: `ext_vector_type` is an extension of clang.*CXX=clang\+\+"):
        call("// ext_vector_type in a comment\ntypedef float f4 __attribute__((ext_vector_type(4)));\n")


def test_compile_errors_name_the_candidates_own_lines(call: Callable[..., torch.Tensor], tmp_path: Path) -> None:
    with pytest.raises(CompileFailed) as failed:
        call("__global__ void k(int* y) {\n  k<<<1, 1>>>(y); nonsense();\n}\n")
    assert failed.value.reason.startswith("kernel.hip:3:")
    assert "nonsense" in failed.value.reason
    assert "  k<<<1, 1>>>(y); nonsense();" in failed.value.log
    assert str(tmp_path) not in failed.value.log


def test_errors_in_headers_and_broken_launches_too(call: Callable[..., torch.Tensor], tmp_path: Path) -> None:
    with pytest.raises(CompileFailed) as failed:
        call('#include "part.h"\n', part__h="\nint f() { return nonsense; }\n")
    assert failed.value.reason.startswith("part.h:2:")
    assert str(tmp_path) not in failed.value.log


def test_a_launch_that_is_not_closed(call: Callable[..., torch.Tensor]) -> None:
    with pytest.raises(CompileFailed, match=r"kernel\.hip:2:\d+: error: "):
        call("void g() { k<<<1, 2>>(3); }\n")


def test_a_missing_entry(call: Callable[..., torch.Tensor]) -> None:
    with pytest.raises(EntryMissing, match='`f` is a C\\+\\+ function; declare it extern "C"'):
        call("void f(int*, int64_t, hipStream_t) {}\n")


def test_files_that_are_no_sources(tmp_path: Path, toolchain: Callable[..., Toolchain]) -> None:
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(CompileFailed, match=r"none of notes\.txt is a HIP source"):
        hip.build(Source(tmp_path, ("notes.txt",), "f"), "cpu", 64, toolchain().cache, tmp_path)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "CPU only so far" in (hip.missing("cuda") or "")
    assert hip.missing("cpu") is None
    assert "-DHIPCPU_WARP_SIZE=64" in hip.toolchain("cpu")["hipcpu-flags"]
    cxx.compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    try:
        assert "apt-get install g++" in (hip.missing("cpu") or "")
    finally:
        cxx.compiler.cache_clear()


def test_a_compiler_that_cannot_build_the_library_is_told_and_leaves_no_half_product(tmp_path: Path) -> None:
    broken = tmp_path / "broken-g++"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit 0\necho "cannot" >&2; exit 1\n', encoding="utf-8")
    broken.chmod(0o755)
    toolchain = Toolchain((str(broken),), tmp_path / "cache")
    with pytest.raises(Unprepared, match="cannot"):
        toolchain.prepare()
    assert not toolchain.is_ready
    assert not list(toolchain.folder.glob("*.so"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    with pytest.raises(Unprepared, match="cache"):
        Toolchain(("g++",), tmp_path / "cache").prepare()


def test_preparing_twice_does_the_work_once(toolchain: Callable[..., Toolchain]) -> None:
    made = toolchain()
    before = made.library.stat().st_mtime_ns
    made.prepare()
    assert made.library.stat().st_mtime_ns == before
