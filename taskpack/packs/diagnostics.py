"""Diagnostics as text for people and as data for machines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, replace

from taskpack.errors import Diagnostic

_BOLD, _RED, _YELLOW, _CYAN, _PLAIN = "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[36m", "\x1b[0m"


def render_diagnostic(diagnostic: Diagnostic, *, colour: bool = False) -> str:
    """`file:line:column: error[P012]: message`, the line with a caret below it, and the hint; ends in a newline."""
    d = replace(
        diagnostic,
        file=_printable(diagnostic.file),
        message=_printable(diagnostic.message),
        hint=_printable(diagnostic.hint),
        source_line=_printable(diagnostic.source_line),
    )
    word, paint = ("warning", _YELLOW) if d.is_warning else ("error", _RED)
    place = f"{d.file}:{d.line}:{d.column}" if d.line else d.file
    head = f"{_painted(place, _BOLD, colour)}: {_painted(f'{word}[{d.code}]', paint, colour)}: {d.message}\n"
    return head + _excerpt(d, paint, colour) + (f"{_painted('hint', _CYAN, colour)}: {d.hint}\n" if d.hint else "")


def render_diagnostics(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """All of them, in the order of files and lines, with a blank line between."""
    return "\n".join(render_diagnostic(diagnostic, colour=colour) for diagnostic in sorted(diagnostics))


def to_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """The content of `--json`: the fields, and `severity`."""
    fields = asdict(diagnostic)
    return fields | {"severity": "warning" if fields.pop("is_warning") else "error"}


def _excerpt(d: Diagnostic, paint: str, colour: bool) -> str:
    if not d.line or not d.source_line.strip():
        return ""
    gutter = f"{d.line:>4} | "
    before, marked = d.source_line[: d.column - 1], d.source_line[d.column - 1 :][: d.length]
    indent = "".join("\t" if character == "\t" else " " * _width(character) for character in before)
    caret = "^" * max(1, sum(map(_width, marked)))
    return f"{gutter}{d.source_line}\n{' ' * (len(gutter) - 2)}| {indent}{_painted(caret, paint, colour)}\n"


def _printable(text: str) -> str:
    """Without control characters: a stranger's pack does not get to steer the terminal."""
    return "".join(character if character.isprintable() or character == "\t" else "\ufffd" for character in text)


def _width(character: str) -> int:
    """Columns of a terminal."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _painted(text: str, paint: str, colour: bool) -> str:
    return f"{paint}{text}{_PLAIN}" if colour else text
