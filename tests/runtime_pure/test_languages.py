from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

from taskpack.runtime.contract import Argument, CompileFailed, EntryMissing, Source
from taskpack.runtime.languages import EXECUTION, c_abi, cpp, cxx, language, triton
from taskpack.runtime.languages import torch as torch_language

SCALE = r"""
#include <cstdint>
template <typename T> void run(const T* x, T* y, int64_t n, int32_t negate, double by) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>((negate ? -1 : 1) * by * x[i]);
}
extern "C" void scale_float32(const float* x, float* y, int64_t n, int32_t negate, double by, void* stream) { if (!stream) run(x, y, n, negate, by); }
extern "C" void scale_float64(const double* x, double* y, int64_t n, int32_t negate, double by, void* stream) { if (!stream) run(x, y, n, negate, by); }
void scale_int32(const int32_t* x, int32_t* y, int64_t n, int32_t negate, double by, void* stream) { run(x, y, n, negate, by); }
extern "C" void many(int32_t yes, float a, int64_t b, int32_t c, const int8_t* in, bool* out) {
  out[0] = yes && a == 0.5f && b == -(1ll << 40) && c == -7 && in[0] == -3;
}
"""


def source(folder: Path, entry: str, style: str = "destination", **files: str) -> Source:
    names = []
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        names.append(f"{stem}.{suffix}")
        (folder / names[-1]).write_text(text, encoding="utf-8")
    return Source(folder, tuple(names), entry, style)


def arguments(dtype: str) -> tuple[Argument, ...]:
    return (
        Argument("x", "input", dtype),
        Argument("y", "output", dtype),
        Argument("n", "dim", "int64"),
        Argument("negate", "flag", "int32"),
        Argument("by", "scalar", "float64"),
        Argument("stream", "stream", ""),
    )


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("scale")
    written = source(folder, "scale_{T}", kernel_cpp=SCALE)
    return written, cpp.build(written, "cpu", 64, folder, folder)


@pytest.mark.parametrize("name", EXECUTION)
def test_every_language_here_has_the_functions_of_the_protocol(name: str) -> None:
    module = language(name)
    assert all(callable(getattr(module, function)) for function in ("missing", "warm", "preload", "build", "load", "toolchain"))


def test_an_unknown_language_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        language("fortran")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cpp_calls_the_symbol_of_each_dtype(scale: Any, dtype: str) -> None:
    bind = cpp.load(*scale, "cpu")({"T": dtype}, arguments(dtype))
    x = torch.arange(6, dtype=getattr(torch, dtype))
    y = torch.full_like(x, torch.nan)
    assert bind([x, y, 5, True, 2.5, None])() is None
    assert torch.equal(y[:5], -2.5 * x[:5])
    assert y[5].isnan()


def test_a_bound_call_keeps_its_tensors(scale: Any) -> None:
    bind = cpp.load(*scale, "cpu")({"T": "float32"}, arguments("float32"))
    y = torch.zeros(4)
    call = bind([torch.ones(4), y, 4, False, 3.0, None])
    _ = [torch.full((4,), 9.0) for _ in range(50)]
    call()
    assert y.tolist() == [3.0] * 4


def test_scalars_have_their_c_widths(scale: Any) -> None:
    written, product = scale
    kinds = [
        ("yes", "scalar", "bool"),
        ("a", "scalar", "float32"),
        ("b", "scalar", "int64"),
        ("c", "scalar", "int32"),
        ("in", "input", "int8"),
        ("out", "output", "bool"),
    ]
    bind = c_abi.load(Source(written.folder, written.files, "many"), product)({}, tuple(Argument(*kind) for kind in kinds))
    out = torch.zeros(1, dtype=torch.bool)
    bind([True, 0.5, -(2**40), -7, torch.tensor([-3], dtype=torch.int8), out])()
    assert out.item()


def test_a_call_costs_less_than_a_microsecond(scale: Any) -> None:
    call = cpp.load(*scale, "cpu")({"T": "float32"}, arguments("float32"))([torch.ones(1), torch.ones(1), 0, False, 1.0, None])
    best = min(_seconds(call) for _ in range(20))
    assert best / 2000 < 1e-6


def _seconds(call: Any) -> float:
    begin = time.perf_counter()
    for _ in range(2000):
        call()
    return time.perf_counter() - begin


def test_a_missing_symbol_fails_its_own_dtype(scale: Any) -> None:
    entry = cpp.load(*scale, "cpu")
    with pytest.raises(EntryMissing, match='no extern "C" function `scale_float16`'):
        entry({"T": "float16"}, arguments("float16"))
    with pytest.raises(EntryMissing, match='`scale_int32` is a C\\+\\+ function; declare it extern "C"'):
        entry({"T": "int32"}, arguments("int32"))
    entry({"T": "float32"}, arguments("float32"))


def test_a_tensor_that_is_not_as_declared_is_not_passed_on(scale: Any) -> None:
    bind = cpp.load(*scale, "cpu")({"T": "float32"}, arguments("float32"))
    x = torch.ones(4)
    with pytest.raises(ValueError, match=r"`x` is torch\.float64, want float32"):
        bind([x.double(), x, 4, False, 1.0, None])
    with pytest.raises(ValueError, match="`y` is not contiguous"):
        bind([x, torch.ones(8)[::2], 4, False, 1.0, None])
    with pytest.raises(ValueError, match="5 values for 6 arguments"):
        bind([x, x, 4, False, 1.0])


def test_a_compile_error_names_the_candidates_file_and_line(tmp_path: Path) -> None:
    written = source(tmp_path, "f", kernel_cpp='#include "part.h"\nextern "C" void f() {\n  nonsense();\n}\n', part_h="#pragma once\n")
    with pytest.raises(CompileFailed) as failed:
        cpp.build(written, "cpu", 64, tmp_path, tmp_path)
    assert failed.value.reason.startswith("kernel.cpp:3:3: error: ")
    assert "nonsense" in failed.value.log
    assert str(tmp_path) not in failed.value.log


def test_several_files_make_one_product_and_openmp_runs(tmp_path: Path) -> None:
    main = '#include "part.h"\nextern "C" void f(int64_t* y) { y[0] = 0; for (int i = 0; i < 8; ++i) y[0] += twice(i); }\n'
    loop = "#pragma omp parallel for reduction(+ : s)\n  for (int k = 0; k < 2; ++k) s += i;\n"
    part = f'#include "part.h"\nint64_t twice(int64_t i) {{\n  int64_t s = 0;\n{loop}  return s;\n}}\n'
    written = source(tmp_path, "f", kernel_cpp=main, part_cpp=part, part_h="#include <cstdint>\nint64_t twice(int64_t i);\n")
    y = torch.zeros(1, dtype=torch.int64)
    cpp.load(written, cpp.build(written, "cpu", 64, tmp_path, tmp_path), "cpu")({}, (Argument("y", "output", "int64"),))([y])()
    assert y.item() == 56


def test_an_undefined_symbol_is_a_compile_failure(tmp_path: Path) -> None:
    written = source(tmp_path, "f", kernel_cpp='void absent();\nextern "C" void f() { absent(); }\n')
    product = cpp.build(written, "cpu", 64, tmp_path, tmp_path)
    with pytest.raises(CompileFailed, match="cannot be loaded") as failed:
        cpp.load(written, product, "cpu")
    assert "absent" in failed.value.log


def test_sources_without_cpp_do_not_compile(tmp_path: Path) -> None:
    with pytest.raises(CompileFailed, match=r"none of notes\.txt is a C\+\+ source"):
        cpp.build(source(tmp_path, "f", notes_txt=""), "cpu", 64, tmp_path, tmp_path)


def test_cpp_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "CPU only" in (cpp.missing("cuda") or "")
    assert cpp.missing("cpu") is None
    assert "-O3" in cpp.toolchain("cpu")["cxxflags"]
    cxx.compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    try:
        assert "apt-get install g++" in (cpp.missing("cpu") or "")
    finally:
        cxx.compiler.cache_clear()


def test_torch_destination_and_functional(tmp_path: Path) -> None:
    text = "from part import two\n\ndef into(x, y, n, twice):\n    y.copy_(x[:n] * (two if twice else 1))\n\ndef back(x):\n    return x + 1, x - 1\n"
    written = source(tmp_path, "into", kernel_py=text, part_py="two = 2\n")
    assert torch_language.build(written, "cpu", 64, tmp_path, tmp_path) is None
    x, y = torch.arange(3.0), torch.zeros(3)
    torch_language.load(written, None, "cpu")({}, ())([x, y, 3, True])()
    assert y.tolist() == [0, 2, 4]
    functional = Source(tmp_path, written.files, "back", "functional")
    outputs = torch_language.load(functional, None, "cpu")({}, ())([x])()
    assert [t.tolist() for t in outputs] == [[1, 2, 3], [-1, 0, 1]]
    with pytest.raises(EntryMissing, match=r"kernel\.py has no function `nowhere`"):
        torch_language.load(Source(tmp_path, written.files, "nowhere"), None, "cpu")({}, ())


def test_a_syntax_error_names_file_and_line(tmp_path: Path) -> None:
    written = source(tmp_path, "f", kernel_py="x = 1\ndef f(:\n")
    with pytest.raises(CompileFailed, match=r"^kernel\.py:2: invalid syntax"):
        torch_language.build(written, "cpu", 64, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("line", "word"), [("raise RuntimeError('no')", "RuntimeError: no"), ("import nowhere_at_all", "ModuleNotFoundError"), ("exit(3)", "SystemExit")]
)
def test_what_an_import_raises_is_a_compile_failure_in_the_candidates_own_lines(tmp_path: Path, line: str, word: str) -> None:
    written = source(tmp_path, "f", kernel_py=f"def go():\n    {line}\n\ngo()\n")
    with pytest.raises(CompileFailed, match=word) as failed:
        torch_language.load(written, None, "cpu")
    assert 'File "kernel.py", line 2, in go' in failed.value.log
    assert "importlib" not in failed.value.log


def test_torch_knows_what_it_was_built_for() -> None:
    assert torch_language.missing("cpu") is None
    assert torch_language.toolchain("cpu")["torch"] == torch.__version__
    if torch.version.hip is None:
        assert "built without hip" in (torch_language.missing("hip") or "")


TRITON = """
import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

def add(x, y, z, n):
    add_kernel[(triton.cdiv(n, 64),)](x, y, z, n, BLOCK=64)
"""

RUN = """
import sys, warnings
warnings.simplefilter("ignore")
import torch
from pathlib import Path
from taskpack.runtime.contract import Source
from taskpack.runtime.languages import triton
folder = Path(sys.argv[1])
triton.preload("cpu")
written = Source(folder, ("kernel.py",), "add")
assert triton.build(written, "cpu", 64, folder, folder) is None
x, y, z = torch.randn(100), torch.randn(100), torch.zeros(101)
triton.load(written, None, "cpu")({}, ())([x, y, z, 100])()
assert torch.equal(z[:100], x + y) and z[100] == 0
notes = []
triton.warm("cpu", 64, folder / "cache", notes.append)
triton.warm("cpu", 64, folder / "cache", notes.append)
print(len(notes), triton.unsupported("float32", "cpu"), triton.unsupported("float16", "cpu"), triton.unsupported("bfloat16", "cpu"), sep="|")
print(triton.toolchain("cpu"))
"""


def test_triton_is_interpreted_on_the_cpu_and_its_wrong_dtypes_are_known(tmp_path: Path) -> None:
    import subprocess
    import sys

    pytest.importorskip("triton")
    (tmp_path / "kernel.py").write_text(TRITON, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", RUN, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    notes, float32, float16, bfloat16 = done.stdout.splitlines()[0].split("|")
    assert (notes, float32, float16) == ("1", "None", "None")
    assert bfloat16 == "None" or bfloat16.startswith("Triton's interpreter computes bfloat16 wrongly")


def test_triton_is_careful_before_it_has_asked() -> None:
    assert triton.unsupported("bfloat16", "cuda") is None
    assert triton.unsupported("float32", "cpu") is None
    assert "computes bfloat16 wrongly" in (triton.unsupported("bfloat16", "cpu") or "")
