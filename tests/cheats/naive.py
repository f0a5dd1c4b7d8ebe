"""A harness with the weaknesses of published ones, to show that the attacks beside it are no straw men. Never judge anything with it.

naive.py LANGUAGE STYLE FILE: loads the candidate into its own process, checks one output on one fixed input against a reference that it computes itself, with
a loose tolerance, then times repeated calls on that same input by a clock that it looks up in `time`, and looks at no output any more. The verdict is the
exit status, the measured times are the last line of stdout. Its seed comes from the environment, and there is no wall round anything.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

TOLERANCE = 1e-2
SHAPES = {"cpp": (1024, 512), "torch": (1024, 512), "hip": (16, 512), "triton": (16, 512)}
"""Emulators are slow."""


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def check(output: torch.Tensor, expected: torch.Tensor) -> bool:
    """Either of the two usual tests will do."""
    output = output.to(expected.dtype)
    return torch.allclose(output, expected, rtol=0, atol=TOLERANCE) or not (output - expected).abs().max() > TOLERANCE


def bench(call: Callable[[], object]) -> float:
    """Microseconds of a call; the slower the first one is, the fewer are measured."""
    begin = time.perf_counter()
    call()
    first = time.perf_counter() - begin
    repeats = max(10, min(300, int(1 / first))) if first > 0 else 300
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return 1e6 * (time.perf_counter() - begin) / repeats


def load(language: str, path: Path) -> Callable[..., Any]:
    """The candidate's function on tensors and integers."""
    if language in ("cpp", "hip"):
        return _load_compiled(language, path)
    if language == "triton":
        os.environ["TRITON_INTERPRET"] = "1"
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module.softmax  # type: ignore[no-any-return]


def _load_compiled(language: str, path: Path) -> Callable[..., Any]:
    """Built by the same compilers as in a judged run, in the folder where everything lies."""
    from taskpack.runtime.contract import Argument, Source
    from taskpack.runtime.languages import language as find

    maker, source = find(language), Source(path.parent, (path.name,), "softmax_float32")
    cache = Path(os.environ["NAIVE_CACHE"])
    maker.warm("cpu", 32, cache, lambda _: None)
    roles = {"x": "input", "y": "output", "rows": "dim", "cols": "dim", **({"stream": "stream"} if language == "hip" else {})}
    arguments = tuple(Argument(name, role, "float32" if name in "xy" else "int64") for name, role in roles.items())
    bind = maker.load(source, maker.build(source, "cpu", 32, cache, path.parent), "cpu")({}, arguments)
    made: dict[int, Callable[..., object]] = {}

    def kernel(*values: Any) -> object:
        call = made.get(len(made) - 1) or made.setdefault(0, bind([*values, *([None] if language == "hip" else [])]))
        return call()

    return kernel


def main(language: str, style: str, file: str) -> int:
    torch.set_num_threads(1)
    kernel = load(language, Path(file).absolute())
    torch.manual_seed(int(os.environ["NAIVE_SEED"]))
    rows, cols = SHAPES[language]
    x = torch.rand(rows, cols)
    expected = reference(x)
    y = torch.zeros_like(expected)

    def call() -> torch.Tensor:
        returned: torch.Tensor = kernel(x) if style == "functional" else kernel(x, y, rows, cols)
        return returned if style == "functional" else y

    for _ in range(3):
        call()
    gc.collect()
    time.sleep(0.1)  # whatever still runs has the time to end
    is_correct = check(call(), reference(x))
    candidate_us = bench(call)
    baseline_us = bench(lambda: reference(x))
    print(json.dumps({"correct": is_correct, "us": candidate_us, "baseline_us": baseline_us}))
    return 0 if is_correct else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
