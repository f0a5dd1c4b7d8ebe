"""Rewrites the few HIP constructs that are not C++, so that an ordinary compiler reads a kernel's source with the headers beside this file.

    K<<<grid, block, shared, stream>>>(args)   a launch
    extern __shared__ T name[];                dynamic shared memory
    __noinline__, static __shared__            spellings that macros cannot express
    __shared__ alignas(16) T name[N];          an order of words that g++ refuses for `thread_local`

Everything else stays byte for byte, and no line moves, so that compilers name the places of the original.
"""

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


class RewriteError(ValueError):
    """The source is none that a compiler would take; `line` counts from 1."""

    def __init__(self, line: int, what: str, file: str = "") -> None:
        super().__init__(f"{file}:{line}: {what}")
        self.file, self.line, self.what = file, line, what


@dataclass
class Token:
    kind: str
    text: str
    line: int


def tokenize(source: str) -> list[Token]:
    """The source in pieces that, joined, are the source."""
    tokens: list[Token] = []
    line = 1
    for match in _TOKEN.finditer(source):
        text = match.group()
        kind = match.lastgroup if match.lastgroup not in (None, "delimiter") else "raw"
        tokens.append(Token(kind, text, line))
        line += text.count("\n")
    return tokens


def rewrite(source: str) -> str:
    """HIP in, C++ out, line for line. Raises RewriteError."""
    tokens = tokenize(source)
    _rewrite_dynamic_shared(tokens)
    _rewrite_spellings(tokens)
    _rewrite_launches(tokens)
    return "".join(token.text for token in tokens)


def _is_code(token: Token) -> bool:
    return token.kind not in ("space", "comment")


def _next(tokens: list[Token], i: int, step: int = 1) -> int:
    """The index of the next token in that direction that is not space or comment; -1 or len(tokens) when there is none."""
    i += step
    while 0 <= i < len(tokens) and not _is_code(tokens[i]):
        i += step
    return i


def _text(tokens: list[Token], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""


def _rewrite_spellings(tokens: list[Token]) -> None:
    for i, token in enumerate(tokens):
        if token.kind != "word":
            continue
        before = _next(tokens, i, -1)
        if token.text == "__noinline__" and _text(tokens, before) != "(":
            token.text = "HIPCPU_NOINLINE"
        if token.text == "__shared__" and _text(tokens, before) == "static":
            tokens[before].text = ""
        if token.text == "__shared__" and _text(tokens, _next(tokens, i)) == "alignas":
            _put_behind(tokens, i, _closing_bracket(tokens, _next(tokens, _next(tokens, i))))


def _put_behind(tokens: list[Token], i: int, end: int) -> None:
    """Moves the word at `i` behind the token at `end`."""
    tokens[end].text += f" {tokens[i].text}"
    tokens[i].text = ""


def _closing_bracket(tokens: list[Token], opening: int) -> int:
    depth = 0
    for i in range(opening, len(tokens)):
        if tokens[i].kind == "punct":
            depth += (tokens[i].text in _CLOSING) - (tokens[i].text in _OPENING)
        if depth == 0:
            return i
    raise RewriteError(tokens[min(opening, len(tokens) - 1)].line, "unbalanced brackets")


# --- dynamic shared memory --------------------------------------------------------------------------------------------------


def _rewrite_dynamic_shared(tokens: list[Token]) -> None:
    in_code: list[bool] = []  # one entry an open brace: whether it is that of a function or class, not of a namespace
    for i, token in enumerate(tokens):
        if token.kind == "punct" and token.text == "{":
            in_code.append(not _opens_namespace(tokens, i))
        elif token.kind == "punct" and token.text == "}" and in_code:
            in_code.pop()
        elif token.text == "extern":
            end = _declaration_end(tokens, i)
            if any(t.text == "__shared__" for t in tokens[i:end]):
                _replace_declaration(tokens, i, end, any(in_code))


def _opens_namespace(tokens: list[Token], brace: int) -> bool:
    i = _next(tokens, brace, -1)
    if tokens[i].kind == "string":
        return _text(tokens, _next(tokens, i, -1)) == "extern"
    while i >= 0 and (tokens[i].kind == "word" or tokens[i].text == "::"):
        if tokens[i].text == "namespace":
            return True
        i = _next(tokens, i, -1)
    return False


def _declaration_end(tokens: list[Token], i: int) -> int:
    while i < len(tokens) and tokens[i].text not in (";", "{"):
        i += 1
    return i


def _replace_declaration(tokens: list[Token], start: int, end: int, in_function: bool) -> None:
    code = [t for t in tokens[start:end] if _is_code(t)]
    words = _without_attributes(tokens[start].line, [t.text for t in code])
    if "[" not in words[1:]:
        raise RewriteError(tokens[start].line, "an extern __shared__ declaration without []")
    bracket = words.index("[")
    name, element = words[bracket - 1], " ".join(words[: bracket - 1])
    extents = "".join(words[bracket:])[len("[]") :]
    newlines = "\n" * sum(t.text.count("\n") for t in tokens[start:end])
    for token in tokens[start:end]:
        token.text = ""
    if in_function:
        tokens[start].text = f"auto& {name} = hipcpu::dynamic_shared<{element}{extents}>(){newlines}"
    else:
        tokens[start].text = f"[[maybe_unused]] static hipcpu::NamespaceShared<{element}{extents}> {name}{newlines}"


def _without_attributes(line: int, words: list[str]) -> list[str]:
    kept, i = [], 0
    while i < len(words):
        if words[i] in ("__align__", "alignas", "__attribute__"):
            i = _matching(line, words, i + 1) + 1
            continue
        if words[i] not in ("extern", "__shared__"):
            kept.append(words[i])
        i += 1
    return kept


def _matching(line: int, words: list[str], i: int) -> int:
    depth = 0
    while i < len(words):
        depth += (words[i] in _CLOSING) - (words[i] in _OPENING)
        if depth == 0:
            return i
        i += 1
    raise RewriteError(line, "unbalanced brackets")


# --- launches -----------------------------------------------------------------------------------------------------------


def _rewrite_launches(tokens: list[Token]) -> None:
    i = 0
    while i < len(tokens):
        if _run_of(tokens, i, "<"):
            _rewrite_launch(tokens, i)
            i += 2
        i += 1


def _run_of(tokens: list[Token], i: int, text: str) -> bool:
    return i + 2 < len(tokens) and all(t.kind == "punct" and t.text == text for t in tokens[i : i + 3])


def _rewrite_launch(tokens: list[Token], opening: int) -> None:
    start = _callee_start(tokens, opening)
    closing = _configuration_end(tokens, opening)
    if _text(tokens, _next(tokens, closing + 2)) != "(":
        raise RewriteError(tokens[opening].line, "no argument list after <<<...>>>")
    callee = "".join(t.text for t in tokens[start:opening] if _is_code(t) or t.kind == "space")
    label = re.sub(r"\s+", " ", callee).strip().replace("\\", "").replace('"', "'")
    tokens[start].text = f'hipcpu::launch("{label}", [&](auto... hipcpu_args) {{ ' + tokens[start].text
    for token in tokens[opening : opening + 3] + tokens[closing : closing + 3]:
        token.text = ""
    tokens[opening].text = "(hipcpu_args...); }, "
    tokens[closing].text = ")"


def _configuration_end(tokens: list[Token], opening: int) -> int:
    depth = 0
    for i in range(opening + 3, len(tokens)):
        if tokens[i].kind != "punct":
            continue
        depth += (tokens[i].text in _CLOSING) - (tokens[i].text in _OPENING)
        if depth == 0 and _run_of(tokens, i, ">"):
            return i
    raise RewriteError(tokens[opening].line, "<<< without >>>")


def _callee_start(tokens: list[Token], opening: int) -> int:
    """Walks back over a postfix expression: names, template arguments, brackets, and what joins them."""
    i = _next(tokens, opening, -1)
    while True:
        if _text(tokens, i) == ">":
            i = _next(tokens, _back_over_angles(tokens, i), -1)
            continue
        if _text(tokens, i) in (")", "]"):
            bracket = _back_over_brackets(tokens, i)
            before = _next(tokens, bracket, -1)
            if before < 0 or not (tokens[before].kind == "word" or tokens[before].text in (">", ")", "]")):
                return bracket
            if tokens[before].text in ("return", "else", "do"):
                return bracket
            i = before
            continue
        if i < 0 or tokens[i].kind != "word":
            raise RewriteError(tokens[opening].line, "no kernel name before <<<")
        joint = _next(tokens, i, -1)
        if _text(tokens, joint) == "template":
            joint = _next(tokens, joint, -1)
        if _text(tokens, joint) not in ("::", ".", "->"):
            return i
        before = _next(tokens, joint, -1)
        if before < 0 or not (tokens[before].kind == "word" or tokens[before].text in (">", ")", "]")):
            return joint  # a leading ::
        if tokens[before].text in ("return", "else", "do"):
            return joint
        i = before


def _back_over_brackets(tokens: list[Token], i: int) -> int:
    depth, line = 0, tokens[i].line
    while i >= 0:
        if tokens[i].kind == "punct":
            depth += (tokens[i].text in _OPENING) - (tokens[i].text in _CLOSING)
            if depth == 0:
                return i
        i -= 1
    raise RewriteError(line, "unbalanced brackets before <<<")


def _back_over_angles(tokens: list[Token], i: int) -> int:
    depth, line = 0, tokens[i].line
    while i >= 0:
        text = tokens[i].text if tokens[i].kind == "punct" else ""
        if text in _OPENING:
            i = _back_over_brackets(tokens, i)
        depth += (text == ">") - (text == "<")
        if depth == 0 and _is_code(tokens[i]):
            return i
        i -= 1
    raise RewriteError(line, "unbalanced <> before <<<")
