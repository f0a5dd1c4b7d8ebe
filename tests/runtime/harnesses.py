"""Small harnesses made by hand, and how to run them as a user would: real archives, real processes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
import zipfile
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNTIME = Path(__file__).parents[2] / "taskpack" / "runtime"

PAGE = """
import sys
from taskpack_runtime.main import Harness, main

def shapes(*, rows, cols, T): return {"x": (rows, cols), "y": (rows, cols)}
def inits(*, rows, cols, T): return {"x": {"normal": {"mean": 0.0, "std": 3.0}}}
def derived(name, tensors, *, rows, cols, T): raise KeyError(name)
def constraints(*, rows, cols, T): return (("cols > 0", cols > 0),)
def invariants(tensors, *, rows, cols, T): return ()
def reductions(*, rows, cols, T): return {"y": cols}
def cost(*, rows, cols, T): return {"bytes": 0, "flops": 0}

HARNESS = Harness(
    __file__, shapes=shapes, inits=inits, constraints=constraints, invariants=invariants, reductions=reductions, cost=cost, derived=derived
)
"""

_ENTRY = "import sys\nfrom harness import HARNESS\nfrom taskpack_runtime.main import main\nsys.exit(main(HARNESS))\n"

REFERENCE = "def softmax(x):\n    return x.softmax(-1)\n"

CPP = """
#include <cmath>
#include <cstdint>
extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float m = -INFINITY, s = 0;
    for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, x[r * cols + c]);
    for (int64_t c = 0; c < cols; ++c) s += std::exp(x[r * cols + c] - m);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = std::exp(x[r * cols + c] - m) / s;
  }
}
"""

TORCH = "import torch\ndef softmax(x, y, rows, cols):\n    torch.softmax(x, -1, out=y)\n"

TRITON = """
import triton
import triton.language as tl

@triton.jit
def rows_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + tl.program_id(0) * n + at, (v / tl.sum(v, 0)).to(y.dtype.element_ty), mask=at < n)

def softmax(x, y, rows, cols):
    rows_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
"""

HIP = """
#include <hip/hip_runtime.h>

__global__ void rows_kernel(const float* x, float* y, int64_t cols) {
  __shared__ float partial[64];
  const float* row = x + blockIdx.x * cols;
  float m = -INFINITY, s = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 64) m = fmaxf(m, row[c]);
  partial[threadIdx.x] = m;
  __syncthreads();
  for (int t = 0; t < 64; ++t) m = fmaxf(m, partial[t]);
  __syncthreads();
  for (int64_t c = threadIdx.x; c < cols; c += 64) s += expf(row[c] - m);
  partial[threadIdx.x] = s;
  __syncthreads();
  s = 0;
  for (int t = 0; t < 64; ++t) s += partial[t];
  for (int64_t c = threadIdx.x; c < cols; c += 64) y[blockIdx.x * cols + c] = expf(row[c] - m) / s;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  rows_kernel<<<rows, 64, 0, stream>>>(x, y, cols);
}
"""

FILES = {"cpp": "kernel.cpp", "hip": "kernel.hip", "torch": "kernel.py", "triton": "kernel.py"}
SOURCES = {"cpp": CPP, "hip": HIP, "torch": TORCH, "triton": TRITON}
EXECUTION = {"cpp": "native", "hip": "emulated", "torch": "native", "triton": "interpreted"}


def side(language: str, style: str = "destination") -> dict[str, Any]:
    entry = "softmax_{T}" if language in ("cpp", "hip") else "softmax"
    arguments = ["x", "y", "rows", "cols"] if style == "destination" else ["x"]
    if language == "hip":
        arguments.append("stream")
    execution = EXECUTION[language]
    return {"language": language, "files": [FILES[language]], "entry": entry, "arguments": arguments, "style": style, "execution": execution}


def make_plan(baseline: str = "cpp", candidate: str | None = None) -> dict[str, Any]:
    """Row softmax on the CPU: two seen cases (one timed), nine unseen ones whose rows are never a multiple of 64 long."""
    candidate = candidate or baseline
    tensor = {"dtype": "T", "shape": ["rows", "cols"], "static": False, "edges": [], "count": None, "compare": "close"}
    plain = {"shape": [], "static": False, "edges": [], "count": None, "compare": "exact"}
    executions = {EXECUTION[baseline], EXECUTION[candidate]}
    return {
        "format": 1,
        "task": "local/softmax",
        "version": "0.1.0",
        "family": f"{baseline}2{candidate}",
        "interface": "function",
        "op": {"name": "local/softmax", "version": "0.1.0"},
        "target": {"name": "targets/cpu", "device": "cpu", "architecture": "x86-64", "recognise": {}, "limits": {}, "peak": {}},
        "arguments": [
            {"name": "x", "role": "input", **tensor, "edges": ["large-offset", "spikes"]},
            {"name": "y", "role": "output", **tensor},
            {"name": "rows", "role": "dim", "dtype": "int64", **plain},
            {"name": "cols", "role": "dim", "dtype": "int64", **plain},
        ],
        "names": {"dims": ["rows", "cols"], "dtypes": ["T"], "flags": [], "scalars": []},
        "reference": {"file": "reference.py", "entry": "softmax", "generator": None},
        "baseline": side(baseline),
        "candidate": {**side(candidate), "start": "baseline" if candidate == baseline else None},
        "cases": [
            {"id": "wide", "scale": "small", "values": {"rows": 4, "cols": 192, "T": "float32"}, "digest": "sha256:wide", "timed": False},
            {"id": "square", "scale": "small", "values": {"rows": 64, "cols": 64, "T": "float32"}, "digest": "sha256:square", "timed": True},
        ],
        "unseen": [
            {
                "id": "ragged",
                "scale": "small",
                "count": 9,
                "draws": {"rows": {"range": [1, 9]}, "cols": {"range": [1, 200], "not-multiple-of": 64}, "T": "float32"},
            }
        ],
        "tolerance": {"y": {"rtol": None, "atol": None, "reason": ""}},
        "gates": ["compile", "correct", "general", "fast"],
        "execution": next(name for name in ("interpreted", "emulated", "native") if name in executions),
        "limits": {"compile_s": 60, "call_s": 5, "memory_mib": 2048, "output_mib": 4},
        "timing": {"score": "device"},
        "digests": {"task": "sha256:task"},
    }


def make_gpu_plan(baseline: str = "torch", candidate: str = "triton") -> dict[str, Any]:
    """The same on a CUDA device, with one more case that is not timed and a larger one that is."""
    plan = make_plan(baseline, candidate)
    plan["target"] = {**plan["target"], "name": "targets/gpu", "device": "cuda", "architecture": "cuda"}
    for each in ("baseline", "candidate"):
        plan[each]["execution"] = "native"
    plan["cases"] = [
        {"id": "ragged", "scale": "small", "values": {"rows": 37, "cols": 1000, "T": "float32"}, "digest": "sha256:ragged", "timed": False},
        {"id": "scores", "scale": "full", "values": {"rows": 4096, "cols": 1024, "T": "float32"}, "digest": "sha256:scores", "timed": True},
    ]
    return {**plan, "execution": "native", "limits": {**plan["limits"], "call_s": 20, "memory_mib": 16384}}


def write_harness(path: Path, plan: dict[str, Any], reference: str = REFERENCE, baseline: str | None = None, page: str = PAGE) -> Path:
    """An archive as the compiler makes them."""
    members = {
        "__main__.py": _ENTRY,
        "harness.py": page,
        "plan.json": json.dumps(plan),
        "pack/reference/reference.py": reference,
        f"pack/baseline/{plan['baseline']['files'][0]}": baseline or SOURCES[plan["baseline"]["language"]],
    }
    content = {name: text.encode() for name, text in members.items()}
    for source in RUNTIME.rglob("*"):
        if source.is_file() and "__pycache__" not in source.parts:
            content[f"taskpack_runtime/{source.relative_to(RUNTIME).as_posix()}"] = source.read_bytes()
    files = {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in content.items()}
    content["MANIFEST.json"] = json.dumps({"format": 1, "files": files}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


@dataclass(frozen=True)
class Outcome:
    """What one run of a harness said, and what it left behind."""

    code: int
    result: dict[str, Any]
    stdout: str
    stderr: str
    seconds: float
    left: tuple[str, ...] = ()
    """Processes that outlived the run, and files in its temporary folder."""

    def verdict(self, gate: str) -> str:
        return str(self._gate(gate)["verdict"])

    def reason(self, gate: str) -> str:
        return str(self._gate(gate)["reason"])

    def _gate(self, gate: str) -> dict[str, Any]:
        assert self.result, self.stderr
        return next(entry for entry in self.result["gates"] if entry["gate"] == gate)


class Warm:
    """Runs harnesses from a process that has imported torch already."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("warm.py"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(
        self, harness: Path, candidate: dict[str, str] | str | None = None, *options: str, is_plain: bool = False, is_json: bool = True, is_quick: bool = True
    ) -> Outcome:
        """Runs a harness with a candidate (its one file's text, or several), with a folder of its own for everything temporary."""
        assert self._process.stdin
        assert self._process.stdout
        temporary, out, err = harness.with_name("tmp"), harness.with_name("stdout"), harness.with_name("stderr")
        temporary.mkdir(exist_ok=True)
        words = [str(harness), *(["--quick"] if is_quick else []), *(["--json"] if is_json else []), *options]
        if candidate is not None:
            words += ["--candidate", str(write_candidate(harness, candidate))]
        request = {"words": words, "stdout": str(out), "stderr": str(err), "env": {"TMPDIR": str(temporary)}, "is_plain": is_plain}
        begin = time.monotonic()
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        seconds = time.monotonic() - begin
        printed = out.read_text(encoding="utf-8")
        left = (*answer["left"], *(path.name for path in temporary.iterdir()))
        return Outcome(answer["code"], json.loads(printed) if printed.startswith("{") else {}, printed, err.read_text(encoding="utf-8"), seconds, left)

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def write_candidate(harness: Path, candidate: dict[str, str] | str) -> Path:
    if isinstance(candidate, str):
        with zipfile.ZipFile(harness) as archive:
            names = json.loads(archive.read("plan.json"))["candidate"]["files"]
        candidate = {names[0]: candidate}
    folder = harness.with_name("candidate")
    folder.mkdir(exist_ok=True)
    for name, text in candidate.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def without(plan: dict[str, Any], *gates: str) -> dict[str, Any]:
    """The plan with fewer gates."""
    return {**deepcopy(plan), "gates": [gate for gate in plan["gates"] if gate not in gates]}
