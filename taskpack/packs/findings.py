"""What a check finds, by its key path, and how that becomes a place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from taskpack.errors import Diagnostic

from .codes import CODES
from .spans import Path, Span, find_spans, line_and_column, offsets_in_string


@dataclass(frozen=True)
class Elsewhere:
    """A place in another file of the pack."""

    file: str
    line: int
    column: int
    source_line: str
    length: int = 1


@dataclass(frozen=True)
class Finding:
    """A mistake at a key path of the pack's document."""

    code: str
    path: Path
    message: str
    hint: str = ""
    on_key: bool = False
    """Whether the key is meant, and not its value."""
    part: tuple[int, int] | None = None
    """Offset and length inside the value, which is a string."""
    elsewhere: Elsewhere | None = None
    """Where it stands, if not in the pack.toml."""


@dataclass(frozen=True)
class Page:
    """A file's name and text, in which findings get their places."""

    file: str
    text: str
    """Lines end in LF."""

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def spans(self) -> dict[Path, Span]:
        return find_spans(self.text)

    def place(self, findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
        """A diagnostic each, in the order of lines."""
        return tuple(sorted(self._placed(finding) for finding in findings))

    def at(self, offset: int, length: int, finding: Finding) -> Diagnostic:
        """The diagnostic of a finding that stands at an offset of the text."""
        line, column = line_and_column(self.text, offset)
        source_line = self._lines[line - 1]
        shown = max(1, min(length, len(source_line) - column + 1))
        return _diagnostic(finding, self.file, (line, column, source_line, shown))

    def _placed(self, finding: Finding) -> Diagnostic:
        if finding.elsewhere:
            there = finding.elsewhere
            folder = self.file.rpartition("/")[0]
            file = f"{folder}/{there.file}" if folder else there.file
            return _diagnostic(finding, file, (there.line, there.column, there.source_line, there.length))
        path = finding.path
        while path not in self.spans:
            path = path[:-1]
        if not path:
            return self.at(0, 1, finding)
        span = self.spans[path]
        if finding.on_key:
            return self.at(span.key_start, span.key_end - span.key_start, finding)
        if finding.part and path == finding.path and self.text[span.start] in "\"'":
            return self._inside(span, finding)
        return self.at(span.start, span.end - span.start, finding)

    def _inside(self, span: Span, finding: Finding) -> Diagnostic:
        assert finding.part
        offsets = offsets_in_string(self.text, span)
        offset, length = finding.part
        start = offsets[min(offset, len(offsets) - 1)]
        end = offsets[min(offset + length, len(offsets) - 1)]
        return self.at(start, end - start, finding)


def _diagnostic(finding: Finding, file: str, place: tuple[int, int, str, int]) -> Diagnostic:
    line, column, source_line, length = place
    return Diagnostic(file, line, column, finding.code, finding.message, finding.hint, source_line, length, is_warning=CODES[finding.code].is_warning)


def overlaps(path: Path, others: Iterable[Path]) -> bool:
    """Whether `path` is above, at or below one of the others."""
    return any(path[: len(other)] == other[: len(path)] for other in others)


def without_repeats(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each place and code once: the first message stands."""
    seen = set()
    for finding in findings:
        key = (finding.code, finding.path, finding.on_key, finding.part, finding.elsewhere, finding.message)
        if key not in seen:
            seen.add(key)
            yield finding
