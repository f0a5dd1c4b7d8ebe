"""Where in a TOML text each key and value stands; only for texts that tomli has accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass

import tomli

Path = tuple[str | int, ...]
"""Keys and list indices from the top of the document."""


@dataclass(frozen=True)
class Span:
    """Offsets into the text, ends excluded. For a table that a header opens both pairs are the header's; for an item of a list, the value's."""

    key_start: int
    key_end: int
    start: int
    end: int


_BLANK = re.compile(r"[ \t]*")
_SKIPPED = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[^\r\n \t])")
_CONTINUATION = re.compile(r"\\[ \t]*\r?\n[ \t\r\n]*")


def find_spans(text: str) -> dict[Path, Span]:
    """A span for every key and list item of `text`, and for the whole document at `()`. Lines may end in LF or CRLF."""
    return _Scan(text).document()


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both count from 1; columns count characters."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def offsets_in_string(text: str, span: Span) -> list[int]:
    """For each character of the string whose literal `span` covers, where in `text` it is spelled; then where the literal's content ends."""
    quote = text[span.start]
    is_multiline = text.startswith(quote * 3, span.start) and span.end - span.start >= 6
    width = 3 if is_multiline else 1
    at, end = span.start + width, span.end - width
    if is_multiline:
        at += len(re.compile(r"\r?\n|").match(text, at).group())  # type: ignore[union-attr]
    offsets = []
    while at < end:
        if quote == '"' and is_multiline and (skipped := _CONTINUATION.match(text, at, end)):
            at = skipped.end()
            continue
        offsets.append(at)
        if quote == '"' and (escape := _ESCAPE.match(text, at, end)):
            at = escape.end()
        else:
            at += 2 if text.startswith("\r\n", at) else 1
    return [*offsets, end]


class _Scan:
    """One pass over a text; `spans` fills as it goes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[Path, Span] = {}
        self.rows: dict[Path, int] = {}
        """Array of tables → index of its newest table."""

    def document(self) -> dict[Path, Span]:
        self.spans[()] = Span(0, 0, 0, len(self.text))
        table: Path = ()
        at = self._skip(0)
        while at < len(self.text):
            if self.text[at] == "[":
                table, at = self._header(at)
            else:
                at = self._pair(at, table)
            at = self._skip(at)
        return self.spans

    def _skip(self, at: int) -> int:
        return _end(_SKIPPED, self.text, at)

    def _header(self, start: int) -> tuple[Path, int]:
        """`[a.b]` or `[[a.b]]`: the path of the table that it opens, and where it ends."""
        is_row = self.text.startswith("[[", start)
        width = 2 if is_row else 1
        parts, at = self._key(start + width)
        end = at + width
        path: Path = ()
        for index, (name, key_start, key_end) in enumerate(parts):
            path += (name,)
            is_last = index == len(parts) - 1
            span = Span(start, end, start, end) if is_last else Span(key_start, key_end, key_start, key_end)
            if is_last and is_row:
                self.spans.setdefault(path, span)
                self.rows[path] = self.rows.get(path, -1) + 1
            elif is_last:
                self.spans[path] = span
            else:
                self.spans.setdefault(path, span)
            if path in self.rows:
                path += (self.rows[path],)
                if is_last:
                    self.spans[path] = span
        return path, end

    def _key(self, at: int) -> tuple[list[tuple[str, int, int]], int]:
        """The parts of a dotted key with their offsets, and where the next sign (`=`, `]`) stands."""
        parts = []
        at = _end(_BLANK, self.text, at)
        while True:
            end = self._string(at) if self.text[at] in "\"'" else _end(_BARE_KEY, self.text, at)
            spelled = self.text[at:end]
            parts.append((_unquoted(spelled), at, end))
            at = _end(_BLANK, self.text, end)
            if not self.text.startswith(".", at):
                return parts, at
            at = _end(_BLANK, self.text, at + 1)

    def _pair(self, at: int, table: Path) -> int:
        parts, at = self._key(at)
        path = table
        for name, key_start, key_end in parts[:-1]:
            path += (name,)
            self.spans.setdefault(path, Span(key_start, key_end, key_start, key_end))
        name, key_start, key_end = parts[-1]
        start = _end(_BLANK, self.text, at + 1)
        path += (name,)
        end = self._value(start, path)
        self.spans[path] = Span(key_start, key_end, start, end)
        return end

    def _value(self, at: int, path: Path) -> int:
        """Where the value at `at` ends; what it holds gets spans of its own."""
        match self.text[at]:
            case '"' | "'":
                return self._string(at)
            case "[":
                return self._list(at, path)
            case "{":
                return self._inline_table(at, path)
            case _:
                found = _SCALAR.match(self.text, at)
                assert found, f"no value at {at}"
                return at + len(found.group().rstrip())

    def _list(self, at: int, path: Path) -> int:
        at = self._skip(at + 1)
        index = 0
        while self.text[at] != "]":
            item = (*path, index)
            end = self._value(at, item)
            self.spans[item] = Span(at, end, at, end)
            index += 1
            at = self._skip(end)
            if self.text[at] == ",":
                at = self._skip(at + 1)
        return at + 1

    def _inline_table(self, at: int, path: Path) -> int:
        at = self._skip(at + 1)
        while self.text[at] != "}":
            at = self._skip(self._pair(at, path))
            if self.text[at] == ",":
                at = self._skip(at + 1)
        return at + 1

    def _string(self, at: int) -> int:
        """Where the string literal at `at` ends."""
        quote = self.text[at]
        if not self.text.startswith(quote * 3, at):
            return self._closing(at + 1, quote)
        end = self._closing(at + 3, quote * 3)
        # One or two quotes may stand before the closing three.
        for _ in range(2):
            end += self.text.startswith(quote, end)
        return end

    def _closing(self, at: int, quotes: str) -> int:
        while not self.text.startswith(quotes, at):
            at += 2 if quotes[0] == '"' and self.text[at] == "\\" else 1
        return at + len(quotes)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of a pattern that always matches ends."""
    found = pattern.match(text, at)
    return found.end() if found else at


def _unquoted(spelled: str) -> str:
    if spelled[0] not in "\"'":
        return spelled
    (key,) = tomli.loads(f"{spelled}=0")
    return str(key)
