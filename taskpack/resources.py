"""Finds what ships beside the code: templates, schemas, packs and the registry, in a checkout and in a wheel."""

from __future__ import annotations

import os
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


def cache() -> Path:
    """The user's folder for what can be made or fetched again; `TASKPACK_CACHE` and `XDG_CACHE_HOME` move it."""
    general = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None) or Path("~/.cache").expanduser()
    return Path(os.environ.get("TASKPACK_CACHE") or Path(general, "taskpack"))


def installed_packs() -> Path:
    """Packs that came from an index, a folder each, named by what they hold; nothing is ever written into them."""
    return cache() / "packs"


def is_installed(folder: Path) -> bool:
    """Whether a pack's folder came from an index: a stranger's, and not to be written into."""
    return folder.resolve().is_relative_to(installed_packs().resolve())


def runtime_folder() -> Path:
    """The package that travels inside harnesses."""
    return _PACKAGE / "runtime"


def _folder(name: str) -> Path:
    """A checkout wins: an editable install may leave an old copy in `_data`."""
    if (_PACKAGE.parent / "pyproject.toml").is_file():
        return _PACKAGE.parent / name
    return _PACKAGE / "_data" / name
