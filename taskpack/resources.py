"""Finds what ships beside the code: templates, schemas, packs and the registry, in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder with `new/` and `harness/`."""
    return _folder("templates")


def schemas() -> Path:
    """The folder with a JSON Schema for each kind of pack."""
    return _folder("schemas")


def shipped_packs() -> Path:
    """The folder of the packs that ship, as `namespace/name/`."""
    return _folder("packs")


def registry() -> Path:
    """The folder of the built-in index."""
    return _folder("registry")


def runtime_folder() -> Path:
    """The package that travels inside harnesses."""
    return _PACKAGE / "runtime"


def _folder(name: str) -> Path:
    """A checkout wins: an editable install may leave an old copy in `_data`."""
    if (_PACKAGE.parent / "pyproject.toml").is_file():
        return _PACKAGE.parent / name
    return _PACKAGE / "_data" / name
