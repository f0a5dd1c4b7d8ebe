"""The subjects in a candidate's files: each a place, with what is known of it without running anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import hip, triton
from .subject import Subject

__all__ = ["PROVIDERS", "Unreadable", "find_subjects"]


@dataclass(frozen=True)
class Unreadable:
    """A file of which nothing can be known, and why."""

    file: str
    line: int
    reason: str


_LONGEST = 256 << 10

PROVIDERS: dict[str, Callable[[str, str], list[Subject]]] = {"triton": triton.subjects, "hip": hip.subjects}
"""Language → what finds the subjects in a file's name and text; raises SyntaxError where the text is none of the language."""


def find_subjects(language: str, files: Mapping[str, str]) -> tuple[list[Subject], list[Unreadable]]:
    """The subjects in all files (name → text), in the order of files and lines; nothing of a language without a provider."""
    find = PROVIDERS.get(language)
    found: list[Subject] = []
    unreadable = []
    for name, text in files.items() if find else ():
        assert find
        try:
            if len(text) > _LONGEST:
                raise ValueError(f"it is longer than {_LONGEST >> 10} Ki characters")
            found += find(name, text)
        except SyntaxError as error:
            unreadable.append(Unreadable(name, error.lineno or 1, error.msg))
        except (RecursionError, MemoryError, ValueError) as error:
            unreadable.append(Unreadable(name, 1, str(error) or type(error).__name__))
    return sorted(found, key=lambda one: (one.file, one.line, one.column)), unreadable
