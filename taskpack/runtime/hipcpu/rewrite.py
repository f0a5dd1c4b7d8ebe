"""Rewrites the few HIP constructs that are not C++, so that an ordinary compiler reads a kernel's source with the headers beside this file.

    K<<<grid, block, shared, stream>>>(args)   a launch
    extern __shared__ T name[];                dynamic shared memory
    __noinline__, __forceinline__              spellings that macros cannot express
    static __shared__ T name;                  thread-local is storage enough
    __shared__ alignas(16) T name[N];          an order of words that g++ refuses for `thread_local`
    helper(x)                                  a call that reaches a warp function (see `calls`)

Everything else stays byte for byte, and no line moves, so that compilers name the places of the original. What cannot be followed (in text that
is compiled out, or that no compiler would take) stays as well: the compiler is the judge of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from .calls import collective_functions, mark_calls
from .tokens import NotFound, Token, bracket_depth, closing_bracket, is_code, is_word, opening_angle, opening_bracket, step, text_at, tokenize

_WITH_ARGUMENTS = frozenset({"__launch_bounds__", "__attribute__", "__align__", "alignas", "__cluster_dims__", "__maxnreg__"})
"""Words of a declaration that brackets follow."""
_STATEMENTS = frozenset({"return", "else", "do"})
_CONDITIONS = frozenset({"if", "while", "for", "switch"})


def rewrite(source: str) -> str:
    """HIP in, C++ out, line for line."""
    return rewrite_all({"": source})[""]


def rewrite_all(sources: Mapping[str, str]) -> dict[str, str]:
    """The same for files that include each other, by name."""
    files = {name: tokenize(source) for name, source in sources.items()}
    functions = collective_functions(files.values())
    return {name: _rewrite(tokens, functions) for name, tokens in files.items()}


def _rewrite(tokens: list[Token], functions: frozenset[str]) -> str:
    mark_calls(tokens, functions)
    _rewrite_dynamic_shared(tokens)
    _rewrite_spellings(tokens)
    _rewrite_launches(tokens)
    return "".join(token.text for token in tokens)


# --- spellings --------------------------------------------------------------------------------------------------------------


def _rewrite_spellings(tokens: list[Token]) -> None:
    for i, token in enumerate(tokens):
        if token.kind != "word":
            continue
        before = step(tokens, i, -1)
        if token.text == "__noinline__" and text_at(tokens, before) != "(":
            token.text = "HIPCPU_NOINLINE"
        elif token.text == "__forceinline__" and _wants_inline(tokens, i):
            token.text = "inline __forceinline__"
        elif token.text == "__shared__":
            if text_at(tokens, before) == "static":
                tokens[before].text = ""
            with suppress(NotFound):
                _put_alignment_first(tokens, i)


def _wants_inline(tokens: list[Token], i: int) -> bool:
    """Whether the declaration around does not say `inline` itself, and is no lambda's."""
    first, last = i, i
    while is_word(tokens, step(tokens, first, -1)) and tokens[step(tokens, first, -1)].directive == tokens[i].directive:
        first = step(tokens, first, -1)
    while is_word(tokens, step(tokens, last)) and tokens[step(tokens, last)].directive == tokens[i].directive:
        last = step(tokens, last)
    words = {token.text for token in tokens[first : last + 1]}
    return "inline" not in words and text_at(tokens, step(tokens, first, -1)) != "]"


def _put_alignment_first(tokens: list[Token], shared: int) -> None:
    alignas = step(tokens, shared)
    if text_at(tokens, alignas) == "alignas":
        tokens[closing_bracket(tokens, step(tokens, alignas))].text += " __shared__"
        tokens[shared].text = ""


# --- dynamic shared memory --------------------------------------------------------------------------------------------------


def _rewrite_dynamic_shared(tokens: list[Token]) -> None:
    names: set[str] = set()
    for i, in_function in _shared_declarations(tokens):
        with suppress(NotFound):
            _replace_declaration(tokens, i, in_function, names)
    for i, token in enumerate(tokens):
        # An object of a class stands for the array at namespace scope: it converts, but not to an array's every use.
        if token.text == "reinterpret_cast" and text_at(tokens, step(tokens, i)) == "<":
            with suppress(NotFound):
                opening = _cast_argument(tokens, i)
                name = step(tokens, opening)
                if text_at(tokens, name) in names and text_at(tokens, step(tokens, name)) == ")":
                    token.text = "static_cast"


def _cast_argument(tokens: list[Token], cast: int) -> int:
    i = step(tokens, cast)
    while i < len(tokens) and text_at(tokens, i) not in ("(", ";"):
        i = step(tokens, i)
    if text_at(tokens, i) != "(":
        raise NotFound
    return i


def _shared_declarations(tokens: list[Token]) -> Iterator[tuple[int, bool]]:
    """Each `extern` that may begin one, and whether it stands in a function (or class), and not in a namespace."""
    in_code: list[bool] = []  # an entry for each open brace
    branches: list[list[bool]] = []  # what it was at each #if that is open: the other branches begin there, too
    for i, token in enumerate(tokens):
        if token.text == "#" and token.directive and token.directive != tokens[i - 1].directive:
            word = text_at(tokens, step(tokens, i))
            if word in ("if", "ifdef", "ifndef"):
                branches.append(in_code[:])
            elif word in ("else", "elif") and branches:
                in_code = branches[-1][:]
            elif word == "endif" and branches:
                branches.pop()
        elif token.text == "extern":
            yield i, bool(token.directive) or any(in_code)
        elif token.kind == "punct" and not token.directive:
            if token.text == "{":
                in_code.append(not _opens_namespace(tokens, i))
            elif token.text == "}" and in_code:
                in_code.pop()


def _opens_namespace(tokens: list[Token], brace: int) -> bool:
    i = step(tokens, brace, -1)
    if i >= 0 and tokens[i].kind == "string":
        return text_at(tokens, step(tokens, i, -1)) == "extern"
    while is_word(tokens, i) or text_at(tokens, i) == "::":
        if tokens[i].text == "namespace":
            return True
        i = step(tokens, i, -1)
    return False


def _replace_declaration(tokens: list[Token], start: int, in_function: bool, names: set[str]) -> None:
    end = start
    while end < len(tokens) and tokens[end].text not in (";", "{") and tokens[end].directive == tokens[start].directive:
        end += 1
    if not any(token.text == "__shared__" for token in tokens[start:end]):
        return
    words = [token.text for token in _without_attributes([token for token in tokens[start:end] if is_code(token)])]
    if "[" not in words[1:]:
        return
    bracket = words.index("[")
    name, element = words[bracket - 1], " ".join(words[: bracket - 1])
    extents = "".join(words[bracket:])[len("[]") :]
    spaces = "".join(re.sub(r"[^\n\\]", "", token.text) for token in tokens[start:end])
    for token in tokens[start:end]:
        token.text = ""
    if in_function:
        tokens[start].text = f"auto& {name} = hipcpu::dynamic_shared<{element}{extents}>(){spaces}"
    elif name in names:
        tokens[start].text = f"static_assert(true){spaces}"
    else:
        tokens[start].text = f"[[maybe_unused]] static hipcpu::NamespaceShared<{element}{extents}> {name}{spaces}"
        names.add(name)


def _without_attributes(tokens: list[Token]) -> list[Token]:
    kept, i = [], 0
    while i < len(tokens):
        if tokens[i].text in _WITH_ARGUMENTS:
            i = closing_bracket(tokens, i + 1) + 1
            continue
        if tokens[i].text not in ("extern", "__shared__"):
            kept.append(tokens[i])
        i += 1
    return kept


# --- launches -----------------------------------------------------------------------------------------------------------


def _rewrite_launches(tokens: list[Token]) -> None:
    plain = _plain_kernels(tokens)
    i = 0
    while i < len(tokens):
        if _run_of(tokens, i, "<"):
            with suppress(NotFound):
                _rewrite_launch(tokens, i, plain)
            i += 2
        i += 1


def _run_of(tokens: list[Token], i: int, text: str) -> bool:
    return i + 2 < len(tokens) and all(token.kind == "punct" and token.text == text for token in tokens[i : i + 3])


def _rewrite_launch(tokens: list[Token], opening: int, plain: frozenset[str]) -> None:
    start = _callee_start(tokens, opening)
    closing = _configuration_end(tokens, opening)
    if not tokens[opening].directive and text_at(tokens, step(tokens, closing + 2)) != "(":
        raise NotFound
    callee = [token for token in tokens[start:opening] if is_code(token) or token.kind == "space"]
    label = re.sub(r"[\s\\]+", " ", "".join(token.text for token in callee)).strip().replace('"', "'")
    names = [token.text for token in callee if is_code(token)]
    if names[-1] in plain and all(word == "::" or word.isidentifier() for word in names):
        before, after = f'hipcpu::launch("{label}", &', ", "
    else:
        before, after = f'hipcpu::launch("{label}", [&](auto... hipcpu_args) {{ ', "(hipcpu_args...); }, "
    tokens[start].text = before + tokens[start].text
    for token in tokens[opening : opening + 3] + tokens[closing : closing + 3]:
        token.text = ""
    tokens[opening].text = after
    tokens[closing].text = ")"


def _plain_kernels(tokens: list[Token]) -> frozenset[str]:
    """Kernels that are neither templates nor overloaded: their parameters are known, and arguments are converted to them as in any call."""
    plain: dict[str, int] = {}
    templates: set[str] = set()
    for i, token in enumerate(tokens):
        if token.text != "__global__" or token.directive:
            continue
        with suppress(NotFound):
            bracket = _parameters(tokens, i)
            name = text_at(tokens, step(tokens, bracket, -1))
            before = i
            while is_word(tokens, before) or (before >= 0 and tokens[before].kind == "string"):
                before = step(tokens, before, -1)
            if text_at(tokens, before) == ">":
                templates.add(name)
            else:
                plain[name] = plain.get(name, 0) + (text_at(tokens, step(tokens, closing_bracket(tokens, bracket))) == "{")
    return frozenset(name for name, definitions in plain.items() if definitions < 2 and name not in templates)


def _parameters(tokens: list[Token], i: int) -> int:
    """The bracket that opens the parameters of the function whose declaration holds the token at `i`."""
    while i < len(tokens) and text_at(tokens, i) not in (";", "{"):
        if text_at(tokens, i) == "(":
            if text_at(tokens, step(tokens, i, -1)) not in _WITH_ARGUMENTS:
                return i
            i = closing_bracket(tokens, i)
        i = step(tokens, i)
    raise NotFound


def _configuration_end(tokens: list[Token], opening: int) -> int:
    depth = 0
    for i in range(opening + 3, len(tokens)):
        depth += bracket_depth(tokens[i])
        if depth < 0 or (depth == 0 and tokens[i].text == ";"):
            raise NotFound
        if depth == 0 and _run_of(tokens, i, ">"):
            return i
    raise NotFound


def _callee_start(tokens: list[Token], opening: int) -> int:
    """Walks back over a postfix expression: names, template arguments, brackets, and what joins them."""
    i = step(tokens, opening, -1)
    while True:
        if text_at(tokens, i) == ">":
            i = step(tokens, opening_angle(tokens, i), -1)
            continue
        if text_at(tokens, i) in (")", "]"):
            bracket = opening_bracket(tokens, i)
            before = step(tokens, bracket, -1)
            if text_at(tokens, before) in _CONDITIONS:
                return step(tokens, i)
            if not _goes_on(tokens, before):
                return bracket
            i = before
            continue
        if not is_word(tokens, i):
            raise NotFound
        joint = step(tokens, i, -1)
        if text_at(tokens, joint) == "template":
            joint = step(tokens, joint, -1)
        if text_at(tokens, joint) not in ("::", ".", "->"):
            return i
        before = step(tokens, joint, -1)
        if not _goes_on(tokens, before):
            return joint  # a leading ::
        i = before


def _goes_on(tokens: list[Token], i: int) -> bool:
    """Whether what ends at `i` can belong to the same postfix expression."""
    return (is_word(tokens, i) and tokens[i].text not in _STATEMENTS) or text_at(tokens, i) in (">", ")", "]")
