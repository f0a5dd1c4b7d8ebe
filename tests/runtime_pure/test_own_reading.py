"""What sources tell of the work of others: names that lead to torch and to libraries, and no words in strings, comments and parameters."""

from __future__ import annotations

import pytest

from taskpack.runtime.domains import WorkerFailed
from taskpack.runtime.own_native import uses_in_native
from taskpack.runtime.own_ops import COMPUTED, ELEMENTWISE, EVERYTHING, PLAIN, VENDOR, Allow, allowance, kind_of
from taskpack.runtime.own_python import uses_in_python
from taskpack.runtime.own_work import read_sources, refused_operations
from taskpack.runtime.testimony import operations

NONE = Allow("none", False)
ELEMENTS = Allow("elementwise", False)


def _words(source: str, *, holds_modules: bool = False) -> list[str]:
    return [use.words for use in uses_in_python(source, holds_modules)]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import torch\ntorch.softmax(x, -1)", ["calls torch.softmax"]),
        ("import torch as t\nt.sum(x)", ["calls torch.sum"]),
        ("import torch.nn.functional as F\nF.softmax(x)", ["calls torch.nn.functional.softmax"]),
        ("from torch.nn import functional as f\nf.linear(x, w)", ["calls torch.nn.functional.linear"]),
        ("from torch import softmax as s\ns(x)", ["calls torch.softmax"]),
        ("def f(x):\n    import torch\n    return torch.sum(x)", ["calls torch.sum"]),
        ("def f(x):\n    def g():\n        return torch.sum(x)\n    from torch import sum as s\n    return s(x)\nimport torch", ["calls torch.sum"] * 2),
        ("import torch\nt = torch\nF = t.nn.functional\nF.gelu(x)", ["calls torch.nn.functional.gelu"]),
        ("import torch\ng = torch.softmax", ["uses torch.softmax"]),
        ("import torch\n@torch.compile\ndef f(x): return x", ["uses torch.compile"]),
        ("import torch\ntorch.ops.aten.mm(x, x)", ["calls torch.ops.aten.mm"]),
        ("import torch\ntorch.linalg.qr(x)", ["calls torch.linalg.qr"]),
        ("import torch\n[torch.sum(v) for v in x]", ["calls torch.sum"]),
        ("import torch\ntorch.empty(torch.sum(x)).add(1)", ["calls torch.sum"]),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.sum(x)", ["calls torch.sum"]),
        ("from torch import nn\nnn.Softmax()", ["calls torch.nn.Softmax"]),
        ("import numpy as np\nnp.matmul(x, y)", ["calls numpy.matmul"]),
        ("import cupy", ["imports cupy"]),
        ("import ctypes\nctypes.CDLL('/usr/lib/libcublas.so.12')", ["opens /usr/lib/libcublas.so.12"]),
    ],
)
def test_what_is_called(source: str, words: list[str]) -> None:
    assert _words(source) == words


@pytest.mark.parametrize(
    "source",
    [
        "import torch\n# torch.softmax(x)\n'torch.softmax(x)'\nf'torch.softmax'",
        "import torch\ndef f(torch):\n    return torch.softmax(x)",
        "import torch.nn.functional as F\nfor F in range(3):\n    F.softmax(x)",
        "import torch.nn.functional as F\nlambda F: F.softmax(x)",
        "import torch.nn.functional as F\n[F.softmax(x) for F in x]",
        "import torch\nclass torch:\n    pass\ntorch.softmax(x)",
        "from .mine import softmax\nsoftmax(x)",
        "softmax(x)\ntorch.softmax(x)",
        "import torch\ntorch.empty(3, dtype=torch.float32).view(-1).contiguous()\ntorch.cuda.current_stream()\ntorch.zeros_like(x).copy_(y)",
        "import torch\ndef f(x: torch.Tensor) -> torch.Tensor:\n    with torch.no_grad():\n        return x",
        "from torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        self.w = nn.Parameter(x)",
        "import torch\nx.softmax(-1); x @ w; getattr(torch, 'softmax')(x)",
        "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x):\n    tl.sum(tl.softmax(x), 0)",
        "def broken(",
        "x" * 3 + "\0",
    ],
)
def test_what_is_nobody_elses(source: str) -> None:
    assert _words(source) == []


def test_layers_may_hold_parameters_of_a_module() -> None:
    source = "from torch import nn\nnn.Linear(3, 4)\nnn.functional.linear(x, w)\n"
    assert _words(source) == ["calls torch.nn.Linear", "calls torch.nn.functional.linear"]
    assert _words(source, holds_modules=True) == ["calls torch.nn.functional.linear"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("#include <cblas.h>", ["includes <cblas.h>"]),
        ('#  include "cublas_v2.h" // why', ['includes "cublas_v2.h"']),
        ("#include <torch/extension.h>", ["includes <torch/extension.h>"]),
        ("#include <ATen/ATen.h>", ["includes <ATen/ATen.h>"]),
        ("#include <rocblas/rocblas.h>", ["includes <rocblas/rocblas.h>"]),
        ("#include <Eigen/Dense>", ["includes <Eigen/Dense>"]),
        ("#include <cutlass/gemm/device/gemm.h>", ["includes <cutlass/gemm/device/gemm.h>"]),
        ('extern "C" void cblas_sgemm(int);', ["names cblas_sgemm"]),
        ("void f() { sgemm_(); hipblasLtMatmul(h); }", ["names sgemm_", "names hipblasLtMatmul"]),
        ('void f() { dlopen("/usr/lib/libmkl_rt.so", 1); }', ['opens "/usr/lib/libmkl_rt.so"']),
        ('void f() { dlopen("libtorch_cpu.so", 1); }', ['opens "libtorch_cpu.so"']),
        ("void f(const char* n) { dlopen(n, 1); }", ["opens by dlopen a library whose name does not stand there"]),
        ('// #include <cblas.h>\n/* cblas_sgemm() */ const char* s = "cblas_sgemm( dlopen(";', []),
        ("#include <cmath>\n#include <immintrin.h>\n#include <hip/hip_runtime.h>\n#include <atomic>\n#include <omp.h>", []),
        ('int gemm_(int); int blas = 3; void f() { dlopen("libm.so.6", 1); softmax_float32(1); }', []),
    ],
)
def test_native_sources(source: str, words: list[str]) -> None:
    assert [use.words for use in uses_in_native(source)] == words


def test_lines_of_native_sources() -> None:
    assert [use.line for use in uses_in_native("\n/* a\n b */\n#include <cblas.h>\n\n#define A \\\n  1\nvoid f() { cblas_sdot(1); }\n")] == [4, 8]


@pytest.mark.parametrize(
    ("name", "overload", "kind"),
    [
        ("empty", "", PLAIN),
        ("_to_copy", "default", PLAIN),
        ("view", "default", PLAIN),
        ("expand_copy", "default", PLAIN),
        ("mul", "Tensor", ELEMENTWISE),
        ("add_", "Tensor", ELEMENTWISE),
        ("mul", "Scalar_out", ELEMENTWISE),
        ("max", "other", ELEMENTWISE),
        ("max", "default", COMPUTED),
        ("sum", "dim_IntList", COMPUTED),
        ("_softmax", "default", COMPUTED),
        ("index", "Tensor", COMPUTED),
        ("mm", "default", VENDOR),
        ("_scaled_dot_product_flash_attention_for_cpu", "default", VENDOR),
        ("convolution", "default", VENDOR),
        ("linalg_vector_norm", "default", COMPUTED),
        ("no_such_operation", "default", COMPUTED),
    ],
)
def test_kinds_of_operations(name: str, overload: str, kind: str) -> None:
    assert kind_of(name, overload) == kind


def test_what_is_allowed() -> None:
    source = {"kernel.py": "import torch\ntorch.exp(x)\ntorch.sum(x)\ntorch.mm(x, x)\n", "notes.txt": "torch.sum"}

    assert [line.partition(",")[0] for line in read_sources(source, NONE)] == [
        "kernel.py:2: calls torch.exp",
        "kernel.py:3: calls torch.sum",
        "kernel.py:4: calls torch.mm",
    ]
    assert [line.partition(",")[0] for line in read_sources(source, ELEMENTS)] == ["kernel.py:3: calls torch.sum", "kernel.py:4: calls torch.mm"]
    assert read_sources(source, Allow("all", False)) == [
        "kernel.py:4: calls torch.mm, and this task allows no libraries of vendors ([task.allow] vendor-libraries = false)"
    ]
    assert [line.partition(",")[0] for line in read_sources(source, Allow("elementwise", True))] == ["kernel.py:3: calls torch.sum"]
    assert read_sources(source, EVERYTHING) == []
    assert allowance({}) == EVERYTHING


def test_operations_that_ran() -> None:
    ran = [("aten.empty.memory_format", 1, "k.py:1"), ("aten.sum.default", 2, "k.py:2"), ("aten.mm.default", 1, ""), ("mine.op.default", 1, "k.py:3")]

    assert [words.partition(",")[0] for words in refused_operations(ran, NONE)] == ["ran aten.sum.default (k.py:2)", "ran aten.mm.default"]
    assert refused_operations(ran, EVERYTHING) == []


@pytest.mark.parametrize(
    "told", [None, {}, [["a", 1]], [["", 1, ""]], [["a", 0, ""]], [["a", True, ""]], [["a", 1, None]], [["a" * 301, 1, ""]], [["a", 1, ""]] * 1001]
)
def test_nonsense_of_a_worker(told: object) -> None:
    with pytest.raises(WorkerFailed):
        operations(told)


def test_what_a_worker_tells() -> None:
    assert operations([["aten.sum.default", 2, "kernel.py:3"]]) == [("aten.sum.default", 2, "kernel.py:3")]
