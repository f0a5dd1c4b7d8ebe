"""C++ on the CPU: compiled by g++ or clang++ into a shared object whose extern "C" entries are called on pointers.

Flags, and why: `-O3 -march=native` because baseline and candidate are judged on the machine that compiles them; `-std=c++20`;
`-fopenmp` where the compiler has it (g++ always, clang++ with libomp), since using every core is a legitimate way of being faster;
no `-ffast-math`: what it breaks (NaN, infinities, the order of sums) the comparison would catch in some candidates and not in others,
and a candidate that wants it can say `#pragma GCC optimize`. The compiler runs in the candidate's folder with its files' own
names, so that errors read `kernel.cpp:3:5: error: …`. $CXX, where set, comes before g++ and clang++.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from ..contract import CompileFailed, Source
from . import c_abi

_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++")
_FLAGS = ("-O3", "-march=native", "-std=c++20", "-shared", "-fPIC")
_LOG_LIMIT = 16_000


def missing(device: str) -> str | None:
    """Why C++ cannot run on `device`, or None."""
    if device != "cpu":
        return f"C++ runs on the CPU only, not on {device}"
    if _compiler() is None:
        return "no C++ compiler: install g++ (Debian and Ubuntu: apt-get install g++) or clang++, or set CXX"
    return None


def warm(device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
    """Nothing to prepare: a compiler starts in milliseconds."""


def preload(device: str) -> None:
    """Nothing to import."""


def build(source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
    """Compiles the source's C++ files together into `scratch`; raises CompileFailed with the compiler's text."""
    units = [name for name in source.files if name.endswith(_SUFFIXES)]
    if not units:
        raise CompileFailed(f"none of {', '.join(source.files)} is a C++ source ({' '.join(_SUFFIXES)})")
    compiler = _compiler()
    if compiler is None:
        raise CompileFailed(missing(device) or "no C++ compiler")
    product = scratch / "candidate.so"
    openmp = ["-fopenmp"] if _has_openmp(compiler) else []
    command = [*compiler, *_FLAGS, *openmp, "-I.", *units, "-o", str(product)]
    done = subprocess.run(command, cwd=source.folder, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"}, check=False)
    if done.returncode:
        log = done.stderr[:_LOG_LIMIT]
        raise CompileFailed(_first_error(log) or f"{compiler[0]} ended with status {done.returncode}", log)
    return product


def load(source: Source, product: Path | None, device: str) -> c_abi.Loaded:
    """Opens what `build` made."""
    if product is None:
        raise ValueError("C++ needs the product of build")
    return c_abi.load(source, product)


def toolchain(device: str) -> dict[str, str]:
    """The compiler's first line of `--version`, under its own name, and the flags."""
    compiler = _compiler()
    if compiler is None:
        return {}
    flags = [*_FLAGS, *(["-fopenmp"] if _has_openmp(compiler) else [])]
    return {Path(compiler[0]).name: _version(compiler), "cxxflags": " ".join(flags)}


@functools.cache
def _compiler() -> tuple[str, ...] | None:
    """The command to start, as words: $CXX may hold a launcher or flags."""
    wanted = shlex.split(os.environ.get("CXX", ""))
    if wanted and shutil.which(wanted[0]):
        return tuple(wanted)
    return next(((name,) for name in ("g++", "clang++") if shutil.which(name)), None)


@functools.cache
def _version(compiler: tuple[str, ...]) -> str:
    done = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip()


@functools.cache
def _has_openmp(compiler: tuple[str, ...]) -> bool:
    program = "#include <omp.h>\nint f() { return omp_get_max_threads(); }"
    command = [*compiler, "-fopenmp", "-shared", "-fPIC", "-x", "c++", "-", "-o", os.devnull]
    return subprocess.run(command, input=program, capture_output=True, text=True, check=False).returncode == 0


def _first_error(log: str) -> str:
    """The first line that names an error, as the reason; the log has the rest."""
    return next((line.strip() for line in log.splitlines() if "error:" in line or "undefined reference" in line), "")
