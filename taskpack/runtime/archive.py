"""The harness's own files: read from the `.pyz` (or its unpacked folder), and checked against the manifest before anything runs."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

MANIFEST = "MANIFEST.json"


class Tampered(Exception):
    """A file is not what the manifest says."""


@dataclass(frozen=True)
class Archive:
    """Where the files are; `path` is the `.pyz` or a folder."""

    path: Path

    def names(self) -> list[str]:
        """Every file, with forward slashes, sorted."""
        if self.path.is_dir():
            found = (path.relative_to(self.path) for path in self.path.rglob("*") if path.is_file())
            return sorted(path.as_posix() for path in found if "__pycache__" not in path.parts)
        with zipfile.ZipFile(self.path) as opened:
            return sorted(opened.namelist())

    def read(self, name: str) -> bytes:
        if self.path.is_dir():
            return (self.path / name).read_bytes()
        with zipfile.ZipFile(self.path) as opened:
            return opened.read(name)

    def read_below(self, folder: str) -> dict[str, bytes]:
        """The files in a folder by their path within it."""
        return {name.removeprefix(f"{folder}/"): self.read(name) for name in self.names() if name.startswith(f"{folder}/")}

    def verify(self) -> str:
        """The harness digest (sha256 of the manifest); raises Tampered when a file is missing, added or changed."""
        try:
            manifest = self.read(MANIFEST)
            wanted = json.loads(manifest)["files"]
        except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
            raise Tampered(f"{self.path.name}: {MANIFEST} is missing or unreadable") from error
        names = self.names()
        if strange := sorted(set(names) ^ {*wanted, MANIFEST}):
            raise Tampered(f"{self.path.name}: {', '.join(strange[:5])}: not as the manifest says")
        for name, digest in sorted(wanted.items()):
            if sha256(self.read(name)) != digest:
                raise Tampered(f"{self.path.name}: {name} is not the file that the manifest names")
        return sha256(manifest)


def find_archive(file: str) -> Archive:
    """The archive that holds a module by its `__file__`."""
    path = Path(file).absolute()
    return Archive(next((parent for parent in path.parents if parent.is_file()), path.parent))


def sha256(content: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
