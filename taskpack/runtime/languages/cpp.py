"""C++ on the CPU: compiled by g++ or clang++ into a shared object whose extern "C" entries are called on pointers.

Flags, and why: `-O3 -march=native` because baseline and candidate are judged on the machine that compiles them; `-std=c++20`;
`-fopenmp` where the compiler has it (g++ always, clang++ with libomp), since using every core is a legitimate way of being faster;
no `-ffast-math`: what it breaks (NaN, infinities, the order of sums) the comparison would catch in some candidates and not in others,
and a candidate that wants it can say `#pragma GCC optimize`. The compiler runs in the candidate's folder with its files' own
names, so that errors read `kernel.cpp:3:5: error: …`.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from ..contract import CompileFailed, Source
from . import c_abi, cxx

_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++")
_FLAGS = ("-O3", "-march=native", "-std=c++20", "-shared", "-fPIC")


def missing(device: str) -> str | None:
    """Why C++ cannot run on `device`, or None."""
    if device != "cpu":
        return f"C++ runs on the CPU only, not on {device}"
    return cxx.MISSING if cxx.compiler() is None else None


def warm(device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
    """Nothing to prepare: a compiler starts in milliseconds."""


def preload(device: str) -> None:
    """Nothing to import."""


def build(source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
    """Compiles the source's C++ files together into `scratch`; raises CompileFailed with the compiler's text."""
    units = [name for name in source.files if name.endswith(_SUFFIXES)]
    if not units:
        raise CompileFailed(f"none of {', '.join(source.files)} is a C++ source ({' '.join(_SUFFIXES)})")
    compiler = cxx.compiler()
    if compiler is None:
        raise CompileFailed(cxx.MISSING)
    product = scratch / "candidate.so"
    openmp = ["-fopenmp"] if _has_openmp(compiler) else []
    command = [*compiler, *_FLAGS, *openmp, "-I.", *units, "-o", str(product)]
    cxx.compile_units(command, source.folder)
    return product


def load(source: Source, product: Path | None, device: str) -> c_abi.Loaded:
    """Opens what `build` made."""
    if product is None:
        raise ValueError("C++ needs the product of build")
    return c_abi.load(source, product)


def toolchain(device: str) -> dict[str, str]:
    """The compiler's first line of `--version`, under its own name, and the flags."""
    compiler = cxx.compiler()
    if compiler is None:
        return {}
    flags = [*_FLAGS, *(["-fopenmp"] if _has_openmp(compiler) else [])]
    return {Path(compiler[0]).name: cxx.version(compiler), "cxxflags": " ".join(flags)}


@functools.cache
def _has_openmp(compiler: tuple[str, ...]) -> bool:
    program = "#include <omp.h>\nint f() { return omp_get_max_threads(); }"
    command = [*compiler, "-fopenmp", "-shared", "-fPIC", "-x", "c++", "-", "-o", os.devnull]
    return subprocess.run(command, input=program, capture_output=True, text=True, check=False).returncode == 0
