"""Compiles HIP sources for the cores of this machine.

The library that runs grids and the precompiled header are made once for each compiler and set of flags and kept in the cache folder, so that
a kernel costs only its own translation.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from ..contract import Unprepared
from .rewrite import rewrite_all

UNITS = (".hip", ".cpp", ".cc", ".cxx", ".cu")
"""Suffixes of the files that are compiled; others are headers."""

SANITIZERS = {
    "": (),
    "address": ("-fsanitize=address,bounds", "-fno-sanitize-recover=bounds", "-fno-omit-frame-pointer", "-g", "-DHIPCPU_ASAN", "-DHIPCPU_ONE_THREAD"),
    "thread": ("-fsanitize=thread", "-g", "-DHIPCPU_TSAN", "-DHIPCPU_ONE_THREAD"),
}
"""Flags of the builds that find bugs rather than results."""

_FOLDERS = ("hip", "src")


@functools.cache
def own_files() -> dict[str, bytes]:
    """Headers and library sources by path. They may lie inside an archive, so they are read once, while that can still be reached."""
    root = importlib.resources.files(__package__)
    return {path: content for name in _FOLDERS for path, content in sorted(_read(root / name, PurePosixPath(name)))}


def _read(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _read(entry, path / entry.name)
        elif entry.name.endswith((".h", ".cpp")):
            yield str(path / entry.name), entry.read_bytes()


@dataclass(frozen=True)
class Toolchain:
    """One compiler with one set of flags."""

    compiler: tuple[str, ...]
    """The command, as words."""
    cache: Path
    warp_size: int = 64
    """32 or 64."""
    sanitizer: str = ""
    """A key of SANITIZERS."""
    optimisation: str = "-O2"

    @property
    def flags(self) -> list[str]:
        """What every translation unit and the precompiled header share."""
        return [
            "-std=c++20",
            self.optimisation,
            "-march=native",
            "-fPIC",
            "-pthread",
            # Kernels read float4 from float* and the like, which compilers for devices tolerate.
            "-fno-strict-aliasing",
            f"-DHIPCPU_WARP_SIZE={self.warp_size}",
            *SANITIZERS[self.sanitizer],
        ]

    @cached_property
    def folder(self) -> Path:
        """Where this compiler's products with these flags and headers lie: a precompiled header fits no others."""
        digest = hashlib.sha256()
        digest.update(_identity(self.compiler))
        digest.update("\0".join(self.flags).encode())
        for path, content in own_files().items():
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        return self.cache / f"hipcpu-{digest.hexdigest()[:16]}"

    @property
    def library(self) -> Path:
        """The shared library that runs grids, under a name that no other has: a process may load several."""
        return self.folder / f"lib{self.folder.name}.so"

    @property
    def is_ready(self) -> bool:
        """Whether `prepare` has been here."""
        return self.library.is_file() and self._precompiled.is_file()

    @property
    def is_clang(self) -> bool:
        return b"clang" in _identity(self.compiler).partition(b"\n")[0]

    @property
    def _prefix(self) -> Path:
        return self.folder / "pch" / "hipcpu_prefix.h"

    @property
    def _precompiled(self) -> Path:
        return self._prefix.with_name(f"hipcpu_prefix.h.{'pch' if self.is_clang else 'gch'}")

    def prepare(self) -> None:
        """Makes the library and the precompiled header, 6 to 9 s the first time. Several processes may do so at once. Raises Unprepared."""
        if self.is_ready:
            return
        try:
            self._make_all()
        except OSError as error:
            raise Unprepared(f"HIP on the CPU: {error}") from error

    def _make_all(self) -> None:
        for path, content in own_files().items():
            _write(self.folder / path, content)
        _write(self._prefix, b"#include <hip/hip_runtime.h>\n")
        # The library's thread-local state is small and read at every switch; it is loaded once in a process.
        quick = ("-ftls-model=initial-exec", "-fno-semantic-interposition", "-shared", f"-Wl,-soname,{self.library.name}")
        self._produce(self.library, [*sorted(path for path in own_files() if path.endswith(".cpp")), *quick])
        self._produce(self._precompiled, ["-I.", "-x", "c++-header", str(self._prefix)])

    def _produce(self, target: Path, arguments: Sequence[str]) -> None:
        partial = target.with_name(f".{os.getpid()}-{target.name}")
        command = [*self.compiler, *self.flags, *arguments, "-o", str(partial)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            partial.unlink(missing_ok=True)
            raise Unprepared(f"HIP on the CPU: the compiler fails on taskpack's own sources\n{shlex.join(command)}\n{done.stderr}")
        partial.replace(target)

    def command(self, folder: Path, units: Sequence[str], product: Path, *, is_program: bool = False) -> list[str]:
        """How the rewritten sources in `folder` become a shared object, or a program where they have a main().

        Started in the folder of the originals, compilers quote those.
        """
        own = ["-include", str(self._prefix), "-I", str(self.folder), "-I", str(folder)]
        link = ["-x", "none", "-Wl,--no-as-needed", str(self.library), f"-Wl,-rpath,{self.folder}", *([] if is_program else ["-shared"])]
        return [*self.compiler, *self.flags, *own, "-x", "c++", *(str(folder / unit) for unit in units), *link, "-o", str(product)]


def rewrite_files(folder: Path, files: Sequence[str], into: Path) -> list[str]:
    """Writes the sources as C++ to `into`, under the same names, and returns those to compile."""
    sources = {name: (folder / name).read_text(encoding="utf-8-sig", errors="surrogateescape") for name in files}
    for name, text in rewrite_all(sources).items():
        _write(into / name, f'#line 1 "{name}"\n{text}'.encode(errors="surrogateescape"))
    return [name for name in files if name.endswith(UNITS)]


@functools.cache
def _identity(compiler: tuple[str, ...]) -> bytes:
    """Its version, and what -march=native means here: another machine may share the cache."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, check=False).stdout
    macros = subprocess.run([*compiler, "-march=native", "-E", "-dM", "-x", "c", os.devnull], capture_output=True, check=False).stdout
    return version + macros


def _write(path: Path, content: bytes) -> None:
    """Beside it and renamed: another process may be reading."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{os.getpid()}-{path.name}")
    partial.write_bytes(content)
    partial.replace(path)
