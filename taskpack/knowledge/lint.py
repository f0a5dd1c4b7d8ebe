"""Rules on files as they lie on disk, each file by itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskpack.errors import NotFound, UsageError
from taskpack.runtime.rules import Report, judge_files

from .rulebook import Rulebook

LANGUAGES = {".py": "triton", ".hip": "hip"}
"""Suffix → the language that a file is taken to be in."""


def lint_file(path: Path, rulebook: Rulebook, cases: Mapping[str, Any]) -> Report:
    """What the rules say of a file; `cases` are the facts of a task, where there is one. Raises NotFound and UsageError."""
    language = LANGUAGES.get(path.suffix)
    if language is None:
        known = ", ".join(f"`{suffix}`" for suffix in LANGUAGES)
        raise UsageError(f"{path}: no rules look at files called `{path.suffix or path.name}`", hint=f"lint reads {known}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8") from None
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from None
    return judge_files(rulebook.of(language), language, {path.as_posix(): text}, {**rulebook.facts, **cases})
