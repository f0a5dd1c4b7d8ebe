"""HIP: on the CPU through the headers and the library of `taskpack.runtime.hipcpu`, for results and not for speed.

A launch there runs its whole grid before it returns. What goes wrong inside one (threads that wait at different barriers, a deadlock, a
livelock, a trap, a configuration that hardware refuses) is raised by the call that launched it, since the source may never ask.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

from ..contract import Argument, Bind, Call, CompileFailed, Source
from ..hipcpu.tokens import tokenize
from ..hipcpu.toolchain import UNITS, Toolchain, own_files, rewrite_files
from . import c_abi, cxx


class KernelFailed(Exception):
    """A kernel could not run to its end."""


def missing(device: str) -> str | None:
    """Why HIP cannot run on `device`, or None."""
    if device != "cpu":
        return f"HIP runs on the CPU only so far, emulated; not on {device}"
    return cxx.MISSING if cxx.compiler() is None else None


def warm(device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
    """Builds the library and the precompiled header for this compiler and warp size, once. Raises Unprepared."""
    toolchain = _toolchain(warp_size, cache)
    if toolchain and not toolchain.is_ready:
        note("preparing HIP on the CPU, once for this compiler (about 10 s)")
        toolchain.prepare()


def preload(device: str) -> None:
    """Reads the headers, which a worker cannot reach."""
    own_files()


def build(source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
    """Compiles the source's files together into `scratch`; raises CompileFailed with the compiler's text, which names the files as they were."""
    toolchain = _toolchain(warp_size, cache)
    if toolchain is None:
        raise CompileFailed(cxx.MISSING)
    if not toolchain.is_clang:
        _refuse_vectors_of_clang(source)
    rewritten, product = scratch / "rewritten", scratch / "candidate.so"
    units = rewrite_files(source.folder, source.files, rewritten)
    if not units:
        raise CompileFailed(f"none of {', '.join(source.files)} is a HIP source ({' '.join(UNITS)})")
    cxx.compile_units(toolchain.command(rewritten, units, product), source.folder)
    return product


def _refuse_vectors_of_clang(source: Source) -> None:
    """g++ takes a vector of that kind for a scalar, with a warning only."""
    for name in source.files:
        line = 1
        for token in tokenize((source.folder / name).read_text(encoding="utf-8", errors="replace")):
            if token.text in ("ext_vector_type", "__ext_vector_type__"):
                words = f"{name}:{line}: error: `{token.text}` is an extension of clang, and g++ would make a scalar of it"
                raise CompileFailed(f"{words}: set CXX=clang++ (Debian and Ubuntu: apt-get install clang)")
            line += token.text.count("\n")


def load(source: Source, product: Path | None, device: str) -> c_abi.Loaded:
    """Opens what `build` made; calls raise KernelFailed."""
    if product is None:
        raise ValueError("HIP needs the product of build")
    find = c_abi.load(source, product)
    failure = ctypes.CDLL(str(product)).hipcpu_take_failure
    failure.restype = ctypes.c_char_p
    failure()  # of an earlier product in this process

    def entry(dtypes: dict[str, str], arguments: tuple[Argument, ...]) -> Bind:
        bind = find(dtypes, arguments)
        return lambda values: _checked(bind, values, failure)

    return entry


def _checked(bind: Bind, values: Sequence[object], failure: Callable[[], bytes | None]) -> Call:
    call = bind(values)

    def checked() -> None:
        call()
        if why := failure():
            raise KernelFailed(why.decode(errors="replace"))

    return checked


def toolchain(device: str) -> dict[str, str]:
    """The compiler's version under its own name, and the flags."""
    compiler = cxx.compiler()
    if compiler is None:
        return {}
    flags = " ".join(Toolchain(compiler, Path()).flags)
    return {Path(compiler[0]).name: cxx.version(compiler), "hipcpu-flags": flags}


def _toolchain(warp_size: int, cache: Path) -> Toolchain | None:
    compiler = cxx.compiler()
    return Toolchain(compiler, cache, warp_size) if compiler else None
