"""One cache of toolchains for all tests of HIP on the CPU, whichever process runs them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from taskpack.runtime.hipcpu.toolchain import Toolchain, rewrite_files
from taskpack.runtime.languages import cxx

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Toolchain]:
    """A prepared toolchain; skips where its compiler is missing."""
    base = tmp_path_factory.getbasetemp()
    cache = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "hipcpu"

    def make(compiler: str = "g++", warp_size: int = 64, sanitizer: str = "", optimisation: str = "-O2") -> Toolchain:
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        made = Toolchain((compiler,), cache, warp_size, sanitizer, optimisation)
        made.prepare()
        return made

    return make


@pytest.fixture(scope="session")
def build() -> Build:
    """Compiles one source."""

    def make(toolchain: Toolchain, source: Path, product: Path, *, is_program: bool = False) -> Path:
        rewritten = product.with_name(f"{product.name}-rewritten")
        units = rewrite_files(source.parent, [source.name], rewritten)
        cxx.compile_units(toolchain.command(rewritten, units, product, is_program=is_program), source.parent)
        return product

    return make
