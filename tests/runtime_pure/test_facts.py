"""What facts say of source, each on a few lines of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taskpack import resources
from taskpack.runtime.facts.cases import case_facts, device_facts
from taskpack.runtime.facts.find import find_subjects
from taskpack.runtime.facts.subject import Subject
from taskpack.runtime.facts.vocabulary import CASES, SUBJECTS

PRODUCT = """
import triton
import triton.language as tl

SIDE = 64
WIDE = [4, 8]

@triton.autotune(
    configs=[triton.Config({"N": 128, "grf_mode": "256"}, num_warps=w, num_stages=2) for w in WIDE] + [triton.Config({"N": 96})],
    key=["m"],
)
@triton.jit
def product(a, b, c, m, n, k, stride: tl.int64, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr = 32):
    row = tl.program_id(0) * M + tl.arange(0, M)
    col = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    left = a + row[:, None] * k + depth[None, :]
    right = b + depth[:, None].to(tl.int64) * n + col[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        total += tl.dot(tl.load(left, mask=depth[None, :] < k - first), tl.load(right))
    tl.atomic_add(c + row[:, None] * stride + col[None, :], total, mask=col[None, :] < n)

def launch(a, b, c, m, n, k):
    product[(1,)](a, b, c, m, n, k, n, SIDE, N=32)
    return c.sum().item()
"""


def found(text: str, about: str, language: str = "triton") -> list[Subject]:
    subjects, unreadable = find_subjects(language, {"kernel": text})
    assert not unreadable
    return [one for one in subjects if one.about == about]


def facts(text: str, about: str, language: str = "triton") -> list[dict[str, Any]]:
    return [dict(one.facts) for one in found(text, about, language)]


def test_every_autotune_config_meets_the_launch() -> None:
    configs = facts(PRODUCT, "configuration")
    assert [(c["num_warps"], c["num_stages"], c["grf_mode"]) for c in configs] == [(4, 2, "256"), (8, 2, "256"), (4, 3, "default")]
    assert [(c["dot_m"], c["dot_n"], c["dot_k"]) for c in configs] == [(64, 128, 32), (64, 128, 32), (64, 96, 32)]
    assert [(c["odd_length"], c["accumulator_bytes"]) for c in configs] == [(0, 64 * 128 * 4), (0, 64 * 128 * 4), (96, 64 * 96 * 4)]


def test_autotune() -> None:
    (tuned,) = facts(PRODUCT, "autotune")
    assert (tuned["configs"], tuned["key"], tuned["missing"]) == (3, "m", "n, k")
    assert (tuned["redefined"], tuned["has_atomics"], tuned["restores"]) == ("N", True, False)


def test_accesses_and_offsets() -> None:
    assert [(a["operation"], a["is_tile"], a["has_mask"]) for a in facts(PRODUCT, "access")] == [
        ("load", True, True),
        ("load", True, False),
        ("atomic_add", True, True),
    ]
    assert [o["expression"] for o in facts(PRODUCT, "offset")] == ["row[:, None] * k"], "a cast, or an argument of 64 bits, makes it wide"


def test_calls_say_where_they_stand() -> None:
    calls = {(c["call"], c["function"], c["in_kernel"]) for c in facts(PRODUCT, "call")}
    assert {("tl.dot", "product", True), (".item", "launch", False), (".sum", "launch", False)} <= calls


@pytest.mark.parametrize(
    ("launch", "values"),
    [
        ("f[(1,)](x, B=64)", [("B=64", 4)]),
        ("f[(1,)](x, B=2 * 64, num_warps=8)", [("B=128, num_warps=8", 8)]),
        ("f[(1,)](x, B=triton.next_power_of_2(n))", [("no values that are known", 4)]),
        ("f[(1,)](x, 64, num_warps=n)", [("B=64", None)]),
        ("f[(1,)](x, **more)", [("no values that are known", None)]),
        (
            "if n:\n        b, w = 64, 4\n    else:\n        b, w = 128, 8\n    f[(1,)](x, B=b, num_warps=w)",
            [("B=64, num_warps=4", 4), ("B=128, num_warps=8", 8)],
        ),
        ("b = 64\n    b *= 2\n    f[(1,)](x, B=b)", [("no values that are known", 4)]),
        ("pass", [("no values that are known", None)]),
    ],
)
def test_launches(launch: str, values: list[tuple[str, int | None]]) -> None:
    text = f"@triton.jit\ndef f(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 0)\ndef run(x, n, **more):\n    {launch}\n"
    assert [(c["values"], c.get("num_warps")) for c in facts(text, "configuration")] == values


def test_block_pointers_and_descriptors() -> None:
    text = """
@triton.jit
def f(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    d = tl.make_tensor_descriptor(y, [n], [1], block_shape=[B])
    value = tl.load(p, boundary_check=(0,))
    d.store([0], value)
"""
    load, store = facts(text, "access")
    assert (load["is_block_pointer"], load["has_boundary_check"], load["is_descriptor"]) == (True, True, False)
    assert (store["operation"], store["is_descriptor"]) == ("store", True)


HIP = """
#include <hip/hip_runtime.h>
// __shared__ double hidden[1 << 20];
constexpr int kThreads = 256;
#define SIDE 16
__device__ float reduce(float v) { __shared__ float part[kThreads / 32]; return v + part[0]; }
template <class T>
__global__ void __launch_bounds__(kThreads) rows(const T* x, double* y) {
  __shared__ float tile[SIDE][SIDE + 1];
  y[0] = reduce(tile[0][0]);
}
extern "C" void run(float* x, double* y, int n, void* stream) {
  const dim3 grid(n), block(SIDE, 2 * SIDE);
  rows<float><<<grid, block, 0, static_cast<hipStream_t>(stream)>>>(x, y);
  rows<float><<<n, n, 0, nullptr>>>(x, y);
  hipLaunchKernelGGL((rows<float>), dim3(n), dim3(64), 0, nullptr, x, y);
}
"""


def test_hip_kernels_and_launches() -> None:
    (kernel,) = facts(HIP, "kernel", "hip")
    assert kernel == {"kernel": "rows", "uses_float64": True, "has_launch_bounds": True, "launch_bounds": 256, "shared_bytes": 8 * 4 + 16 * 17 * 4}
    assert [(one["kernel"], one.get("block_threads")) for one in facts(HIP, "launch", "hip")] == [("rows", 512), ("rows", None), ("rows", 64)]


def test_a_file_that_cannot_be_read_is_named() -> None:
    assert find_subjects("triton", {"k.py": "def f(:"})[1][0].file == "k.py"
    assert find_subjects("hip", {"k.hip": "\n__global__ void f() {"})[1][0].line == 2
    assert find_subjects("torch", {"k.py": "x = 1"}) == ([], [])


def test_cases_and_device() -> None:
    tensors = [
        {"name": "x", "role": "input", "dtype": "T", "shape": ["rows", "2 * cols"]},
        {"name": "i", "role": "output", "dtype": "int64", "shape": ["rows"]},
        {"name": "rows", "role": "dim", "dtype": "int64", "shape": []},
    ]
    plan = {"arguments": tensors, "cases": [{"values": {"rows": 4, "cols": 8, "T": "float16"}}, {"values": {"rows": 3, "cols": 1, "T": "float32"}}]}
    assert case_facts(plan) == {"largest_tensor_elements": 64, "largest_element_bytes": 4}
    assert device_facts({"warp-size": 32.0}) == {"warp_size": 32}


def _shipped() -> list[Path]:
    return sorted(p for p in (resources.shipped_packs() / "arena").rglob("*") if p.suffix in (".py", ".hip") and ".taskpack" not in p.parts)


def test_facts_of_everything_that_ships_are_in_the_vocabulary() -> None:
    types = {"int": int, "bool": bool, "str": str}
    for path in _shipped():
        subjects, unreadable = find_subjects("hip" if path.suffix == ".hip" else "triton", {path.name: path.read_text()})
        assert not unreadable
        for one in subjects:
            words = SUBJECTS[one.about].facts
            assert all(type(value) is types[words[name].type] for name, value in one.facts.items()), (path, one)
    assert not set(CASES) & {name for about in SUBJECTS.values() for name in about.facts}


TUNED = "@triton.autotune(configs={}, key=[])\n@triton.jit\ndef f(x, B: tl.constexpr):\n"
HOSTILE = {
    "lists that double": "A0 = [triton.Config({})]\n" + "".join(f"A{i} = A{i - 1} + A{i - 1}\n" for i in range(1, 60)) + TUNED.format("A59") + "    pass\n",
    "tuples that double": "T0 = (1, 2)\n" + "".join(f"T{i} = T{i - 1} + T{i - 1}\n" for i in range(1, 60)),
    "a comprehension of comprehensions": TUNED.format(
        "[triton.Config({'B': a * b * c}) for a in range(999) for b in range(999) for c in range(999)]",
    )
    + "    pass\n",
    "numbers that explode": "X = 9 ** 63 ** 63 ** 63\n",
    "too deep": "x = " + "(" * 150 + "1" + ")" * 150 + "\ny = " + "-" * 3000 + "1\n",
    "a kernel too long for its configurations": TUNED.format("[triton.Config({'B': b}) for b in range(500)]") + "    x = x + tl.arange(0, B) * 2\n" * 4000,
    "too large": "x = 1\n" * (1 << 17),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_strangers_file_does_not_keep_its_reader_busy(text: str) -> None:
    find_subjects("triton", {"k.py": text})


@pytest.mark.timeout(60)
def test_functions_that_all_call_each_other() -> None:
    names = [f"f{i}" for i in range(60)]
    calls = " ".join(f"{name}();" for name in names)
    text = "".join(f"__device__ void {name}() {{ __shared__ float a[2]; {calls} }}\n" for name in names) + f"__global__ void k() {{ {calls} }}\n"
    assert facts(text, "kernel", "hip")[0]["shared_bytes"] == 60 * 8


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "__device__ a(" * 9000 + ")" * 9000 + " { }",
        "__global__ void f(int a) { x; }\n" * 8000,
        "dim3 b(1);\n" + "f<<<1, b>>>();\n" * 15000,
        "constexpr int a = " * 8000,
    ],
    ids=["nested", "many kernels", "many launches", "constants without an end"],
)
def test_nor_does_a_strangers_hip(text: str) -> None:
    find_subjects("hip", {"k.hip": text})
