"""Kernels that use one feature each give what NumPy or PyTorch computes, under each compiler and warp size, in any order of threads."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from features import EXPECTED, FEATURES, WARP_OF_64_ONLY, check, pointer

from taskpack.runtime.hipcpu.toolchain import Toolchain

OF_ITS_OWN_KIND = {"softmax"}
CONFIGURATIONS = [
    ("g++", 64),
    pytest.param("g++", 32, marks=pytest.mark.slow),
    pytest.param("clang++", 64, marks=pytest.mark.slow),
    pytest.param("clang++", 32, marks=pytest.mark.slow),
]


def test_every_feature_has_an_expectation() -> None:
    assert {path.stem for path in FEATURES.glob("*.hip")} == set(EXPECTED) | OF_ITS_OWN_KIND


@pytest.mark.parametrize("name", sorted(EXPECTED))
@pytest.mark.parametrize(("compiler", "warp_size"), CONFIGURATIONS)
def test_feature(name: str, compiler: str, warp_size: int, toolchain: Callable[..., Toolchain], build: Callable[..., Path], tmp_path: Path) -> None:
    if warp_size == 32 and name in WARP_OF_64_ONLY:
        pytest.skip("is written for 64 lanes")
    product = build(toolchain(compiler, warp_size), FEATURES / f"{name}.hip", tmp_path / f"{name}.so")
    check(name, ctypes.CDLL(str(product)))


@pytest.mark.parametrize("shape", [(1, 1), (7, 300), (64, 1024)])
@pytest.mark.parametrize(("compiler", "warp_size"), CONFIGURATIONS)
def test_softmax(
    shape: tuple[int, int], compiler: str, warp_size: int, toolchain: Callable[..., Toolchain], build: Callable[..., Path], tmp_path: Path
) -> None:
    x = torch.randn(shape)
    y = torch.empty_like(x)
    library = ctypes.CDLL(str(build(toolchain(compiler, warp_size), FEATURES / "softmax.hip", tmp_path / "softmax.so")))
    library.softmax(pointer(x), pointer(y), *(ctypes.c_int64(n) for n in shape), None)
    torch.testing.assert_close(y, torch.softmax(x, 1))


@pytest.mark.slow
def test_features_do_not_depend_on_the_order_of_threads(toolchain: Callable[..., Toolchain], build: Callable[..., Path], tmp_path: Path) -> None:
    for name in EXPECTED:
        build(toolchain(), FEATURES / f"{name}.hip", tmp_path / f"{name}.so")
    command = [sys.executable, str(FEATURES.with_name("features.py")), str(tmp_path)]
    for order in ("1", "2", "3", "17", "2026"):
        done = subprocess.run(command, env={**os.environ, "HIPCPU_SHUFFLE": order}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"order {order}: {done.stdout}{done.stderr}"
        assert len(done.stdout.split()) == len(EXPECTED)
