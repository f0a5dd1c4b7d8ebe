"""Files become one executable `.pyz`: the same bytes on any machine, with a manifest of what it holds."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from taskpack.digest import digest_bytes

SHEBANG = b"#!/usr/bin/env python3\n"
MANIFEST = "MANIFEST.json"
RUNTIME = "taskpack_runtime"
"""The runtime's name inside a harness, where no taskpack is installed."""

_ENTRY = b'''"""Runs the harness that stands beside it."""

import sys

from harness import HARNESS
from taskpack_runtime.main import main

sys.exit(main(HARNESS))
'''
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest moment that a zip can name."""
_UNIX = 3


@dataclass(frozen=True)
class Bundle:
    """The bytes of a `.pyz` and the digest of every file in it."""

    content: bytes
    harness_digest: str


def bundle_files(files: Mapping[str, bytes], runtime: Mapping[str, bytes]) -> Bundle:
    """Packs `files` and the runtime; the digest is that of the manifest, which names the sha256 of all the others."""
    members = {"__main__.py": _ENTRY} | dict(files) | {f"{RUNTIME}/{path}": content for path, content in runtime.items()}
    manifest = _manifest(members)
    return Bundle(_archive(members | {MANIFEST: manifest}), digest_bytes(manifest))


def read_runtime(folder: Path) -> dict[str, bytes]:
    """Every file of the runtime that travels, by its path with forward slashes; what Python or an editor leaves behind stays."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    relative = {path.relative_to(folder): path for path in found}
    return {inside.as_posix(): path.read_bytes() for inside, path in relative.items() if not any(is_litter(part) for part in inside.parts)}


def to_json(value: object) -> str:
    """JSON that a reader can follow: sorted, one key a line, without NaN."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def is_litter(part: str) -> bool:
    """Whether a file or folder of that name is left behind by a tool, and is none of ours."""
    return part == "__pycache__" or part.startswith(".")


def _manifest(members: Mapping[str, bytes]) -> bytes:
    digests = {path: digest_bytes(content) for path, content in members.items()}
    return to_json({"format": 1, "files": digests}).encode()


def _archive(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    out.write(SHEBANG)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_STORED) as archive:
        for path in sorted(members):
            entry = zipfile.ZipInfo(path, date_time=_EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, members[path])
    return out.getvalue()
