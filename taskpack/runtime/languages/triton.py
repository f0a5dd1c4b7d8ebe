"""Triton: compiled on a GPU, interpreted on the CPU (TRITON_INTERPRET=1), where some dtypes are silently wrong.

The interpreter of releases 3.7, 3.8 and 3.9 computes bfloat16 on its raw 16-bit integers, without an exception (errors of 1e10 and
more); that of 3.6 fails in a loop over a run-time range beside NumPy 2.4. What it cannot do is therefore probed once for each version, by adding in a loop
and multiplying small tensors in a process of its own; a case in such a dtype is left out with that reason, and an answer of the interpreter is never
taken for the candidate's.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..contract import Argument, Bind, Source
from . import torch as _torch

DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")

_PROBE = """
import json, sys
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        a = tl.load(x + at, mask=at < n, other=0)
        b = tl.load(y + at, mask=at < n, other=0)
        tl.store(z + at, a + b, mask=at < n)

@triton.jit
def dot(x, y, z, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(z + i, tl.dot(tl.load(x + i), tl.load(y + i)).to(z.dtype.element_ty))

def is_right(dtype):
    x, y = torch.arange(256).remainder(7).to(dtype), torch.arange(256).remainder(5).to(dtype)
    z = torch.zeros(256, dtype=dtype)
    add[(1,)](x, y, z, 250, BLOCK=64)
    if not torch.equal(z[:250].double(), (x + y)[:250].double()):
        return False
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return True
    x, y, z = x.reshape(16, 16), y.reshape(16, 16), z.reshape(16, 16)
    dot[(1,)](x, y, z, BLOCK=16)
    return torch.equal(z.double(), (x.double() @ y.double()).to(dtype).double())

answers = {}
for name in sys.argv[2:]:
    try:
        answers[name] = is_right(getattr(torch, name))
    except Exception as error:
        answers[name] = False
with open(sys.argv[1], "w") as out:
    json.dump(answers, out)
"""

_answers: dict[str, bool] = {}


def missing(device: str) -> str | None:
    """Why Triton cannot run on `device`, or None."""
    if not sys.platform.startswith("linux"):
        return "Triton is published for Linux only"
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed: pip install triton"
    if device == "cpu" and importlib.util.find_spec("numpy") is None:
        return "Triton's interpreter needs NumPy: pip install numpy"
    return _torch.missing(device)


def warm(device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
    """On the CPU: learns which dtypes the interpreter gets right, from `cache` or, once for each version, by asking it (about 5 s)."""
    if device != "cpu":
        return
    known = cache / f"triton-interpreter-{_versions()}.json"
    if not known.is_file():
        note("asking Triton's interpreter which dtypes it gets right")
        _ask(known)
    _answers.update(json.loads(known.read_text(encoding="utf-8")))


def unsupported(dtype: str, device: str) -> str | None:
    """Why a case in `dtype` cannot be judged on `device`, or None. Before `warm`, bfloat16 counts as wrong and the others as right."""
    if device != "cpu" or _answers.get(dtype, dtype != "bfloat16"):
        return None
    return f"Triton's interpreter computes {dtype} wrongly or not at all (triton {_version('triton')}); it needs a GPU"


def preload(device: str) -> None:
    """Imports Triton; on the CPU with the interpreter chosen, which it reads at import."""
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
    import triton
    import triton.language  # noqa: F401


def build(source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
    """Syntax only: kernels are compiled at their first call."""
    return _torch.build(source, device, warp_size, cache, scratch)


def load(source: Source, product: Path | None, device: str) -> Callable[[dict[str, str], tuple[Argument, ...]], Bind]:
    """Imports the source's first Python file, its `@triton.jit` functions interpreted on the CPU."""
    preload(device)
    return _torch.load(source, product, device)


def toolchain(device: str) -> dict[str, str]:
    """Triton, torch, and NumPy under the interpreter."""
    versions = {"triton": _version("triton"), **_torch.toolchain(device)}
    return {**versions, "numpy": _version("numpy")} if device == "cpu" else versions


def _ask(known: Path) -> None:
    """Runs the probe apart, so that no choice of interpreter or compiler in this process matters, and keeps its answers in `known`."""
    known.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        script, answers = Path(folder, "probe.py"), Path(folder, "answers.json")  # a file: triton reads the kernels' source
        script.write_text(_PROBE, encoding="utf-8")
        command = [sys.executable, "-W", "ignore", str(script), str(answers), *DTYPES]
        done = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode or not answers.is_file():
            raise RuntimeError(f"Triton's interpreter cannot be probed: {done.stderr[-2000:]}")
        fresh = known.with_suffix(f".{os.getpid()}")
        fresh.write_text(answers.read_text(encoding="utf-8"), encoding="utf-8")
        fresh.replace(known)


def _versions() -> str:
    return "-".join(_version(name) for name in ("triton", "torch", "numpy"))


def _version(name: str) -> str:
    return importlib.metadata.version(name)
