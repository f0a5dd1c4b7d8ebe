"""C++ source as tokens: no parser, only what it takes to find a construct and the place where it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<space>   (?: \s | \\\n )+ )
  | (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
  | (?P<raw>     (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)" )
  | (?P<string>  (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" )
  | (?P<char>    (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
  | (?P<number>  \.?\d(?:'?[\w.]|[eEpP][+-])* )
  | (?P<word>    [A-Za-z_]\w* )
  | (?P<punct>   ->|::|<=|>=|&&|\|\||. )
    """,
    re.VERBOSE | re.DOTALL,
)

_OPENING = {")": "(", "]": "[", "}": "{"}
_CLOSING = {opening: closing for closing, opening in _OPENING.items()}
_END_OF_LINE = re.compile(r"(?<!\\)\n")


class NotFound(Exception):
    """What was looked for is not there: the source is not what it seemed, and stays as it is."""


@dataclass
class Token:
    """A piece of the source; `text` is what will stand there."""

    kind: str
    text: str
    directive: int = 0
    """Which preprocessor line it belongs to, counted from 1; 0 for code."""


def tokenize(source: str) -> list[Token]:
    """The source in pieces that, joined, are the source."""
    tokens: list[Token] = []
    directives, current, is_fresh_line = 0, 0, True
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup if match.lastgroup not in (None, "delimiter") else "raw"
        token = Token(str(kind), match.group())
        if kind == "space":
            if _END_OF_LINE.search(token.text):
                current, is_fresh_line = 0, True
        elif kind != "comment":
            if token.text == "#" and is_fresh_line:
                directives += 1
                current = directives
            is_fresh_line = False
        token.directive = current
        tokens.append(token)
    return tokens


def step(tokens: list[Token], i: int, by: int = 1) -> int:
    """The index of the next token in that direction that is not space or comment; -1 or len(tokens) where there is none."""
    i += by
    while 0 <= i < len(tokens) and not is_code(tokens[i]):
        i += by
    return i


def is_code(token: Token) -> bool:
    return token.kind not in ("space", "comment")


def text_at(tokens: list[Token], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""


def is_word(tokens: list[Token], i: int) -> bool:
    return 0 <= i < len(tokens) and tokens[i].kind == "word"


def closing_bracket(tokens: list[Token], opening: int) -> int:
    """The index of the bracket that closes the one at `opening`. Raises NotFound."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += bracket_depth(tokens[i])
        if depth == 0:
            return i
    raise NotFound


def opening_bracket(tokens: list[Token], closing: int) -> int:
    """The index of the bracket that the one at `closing` closes. Raises NotFound."""
    depth = 0
    for i in range(closing, -1, -1):
        depth -= bracket_depth(tokens[i])
        if depth == 0 and is_code(tokens[i]):
            return i
    raise NotFound


def opening_angle(tokens: list[Token], closing: int) -> int:
    """The index of the `<` that begins the template arguments that end at `closing`; a `<` behind no name is a comparison. Raises NotFound."""
    depth, i = 0, closing
    while i >= 0:
        text = tokens[i].text if tokens[i].kind == "punct" else ""
        if text in _OPENING:
            i = opening_bracket(tokens, i)
        elif text == ">":
            depth += 1
        elif text == "<" and is_word(tokens, step(tokens, i, -1)):
            depth -= 1
            if depth == 0:
                return i
        i -= 1
    raise NotFound


def closing_angle(tokens: list[Token], opening: int) -> int:
    """The index of the `>` that ends the template arguments that begin at `opening`. Raises NotFound where they are none."""
    depth, i = 0, opening
    while i < len(tokens):
        text = tokens[i].text if tokens[i].kind == "punct" else ""
        if text in _CLOSING:
            i = closing_bracket(tokens, i)
        elif text in (";", *_OPENING):
            break
        depth += (text == "<") - (text == ">")
        if depth == 0 and text == ">":
            return i
        i += 1
    raise NotFound


def bracket_depth(token: Token) -> int:
    """1 for an opening bracket, -1 for a closing one."""
    return (token.text in _CLOSING) - (token.text in _OPENING) if token.kind == "punct" else 0
