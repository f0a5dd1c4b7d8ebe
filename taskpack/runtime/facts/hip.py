"""Facts of HIP source: kernels with their bounds and shared memory, and the blocks that launches ask for; by a tokenizer, without a compiler."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .static import NotStatic, static
from .subject import Fact, Subject, known

_TOKEN = re.compile(r"<<<|>>>|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d[\w.]*|::|\S")
_HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_MOST = 256
"""Kernels, and launches, of one file: a stranger's must not keep its reader busy."""
_NEAR = 2048
"""Tokens before a launch, among which the variables that it names are declared."""
_SHORT = 64
"""Tokens of a constant's value."""
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_LAUNCHES = ("<<<", "hipLaunchKernelGGL")
_SIZES = {
    **dict.fromkeys(("char", "bool", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "half", "__half", "hip_bfloat16", "__hip_bfloat16", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("float", "int", "unsigned", "int32_t", "uint32_t", "__half2", "half2", "__hip_bfloat162"), 4),
    **dict.fromkeys(("double", "int64_t", "uint64_t", "size_t", "float2", "int2"), 8),
    **dict.fromkeys(("float4", "int4", "double2"), 16),
}
"""Bytes of the types that shared arrays are made of."""


@dataclass(frozen=True)
class _Token:
    text: str
    line: int
    column: int


@dataclass(frozen=True)
class _Function:
    """A function on the device."""

    name: str
    place: _Token
    is_kernel: bool
    bounds: list[_Token] | None
    """What stands in `__launch_bounds__( )`."""
    parameters: list[_Token]
    body: list[_Token]


def subjects(file: str, text: str) -> list[Subject]:
    """Every kernel and every launch in a file; raises SyntaxError where brackets do not match."""
    tokens = _tokens(text)
    constants = _constants(tokens)
    functions = list(_functions(tokens))
    if sum(one.is_kernel for one in functions) > _MOST or sum(token.text in _LAUNCHES for token in tokens) > _MOST:
        raise ValueError(f"it has more than {_MOST} kernels or launches")
    kernels = {one.name: _kernel(one, functions, constants) for one in functions if one.is_kernel}
    found = [*kernels.values(), *_launches(tokens, kernels, constants)]
    return [replace(subject, file=file) for subject in found]


def _tokens(text: str) -> list[_Token]:
    """Words and signs, without comments and the content of literals; a `#define` ends with its line, as any word does."""
    plain = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    starts = [0, *(found.end() for found in re.finditer("\n", plain))]
    tokens, line = [], 0
    for found in _TOKEN.finditer(plain):
        while line + 1 < len(starts) and starts[line + 1] <= found.start():
            line += 1
        tokens.append(_Token(found.group(), line + 1, found.start() - starts[line] + 1))
    return tokens


def _constants(tokens: list[_Token]) -> dict[str, Any]:
    """Names of `constexpr` variables, constants and macros → their values, where those are static."""
    found: dict[str, Any] = {}
    for i, token in enumerate(tokens):
        if token.text in ("constexpr", "const"):
            near = tokens[i : i + _SHORT]
            equals = next((j for j, one in enumerate(near) if one.text in ("=", ";", "{", "(", ")")), 0)
            end = next((j for j, one in enumerate(near) if j > equals and one.text == ";"), 0)
            if near[equals].text == "=" and end:
                _learn(found, near[equals - 1].text, near[equals + 1 : end])
        if token.text == "define" and i and tokens[i - 1].text == "#" and i + 1 < len(tokens):
            _learn(found, tokens[i + 1].text, [one for one in tokens[i + 2 : i + _SHORT] if one.line == token.line])
    return found


def _learn(found: dict[str, Any], name: str, tokens: list[_Token]) -> None:
    if (value := _number(tokens, found)) is not None:
        found[name] = value


def _number(tokens: list[_Token], names: Mapping[str, Any]) -> int | None:
    """The whole number that an expression of C++ gives, or None: casts are seen through, `/` rounds down."""
    text = " ".join(token.text for token in tokens)
    text = re.sub(r"static_cast < [^<>]* >", "", text)
    text = re.sub(r"\b(\d+|0[xX][0-9a-fA-F]+)[uUlL]+\b", r"\1", text)
    text = re.sub(r"\bsizeof \( (\w+) \)", lambda found: str(_SIZES.get(found.group(1), "unknown")), text)
    try:
        value = static(ast.parse(text.replace("/", "//"), mode="eval").body, names)
    except (NotStatic, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, int) else None


def _functions(tokens: list[_Token]) -> Iterator[_Function]:
    """Functions marked `__global__` or `__device__` that have a body. Raises SyntaxError where a bracket of one is never closed."""
    ends = _matches(tokens)
    for i, token in enumerate(tokens):
        if token.text not in ("__global__", "__device__"):
            continue
        bounds, j = None, i + 1
        while j < len(tokens) and tokens[j].text not in ("{", ";", "="):
            if tokens[j].text == "(":
                end = ends[j] if j in ends else _end(tokens, j)
                if tokens[j - 1].text == "__launch_bounds__":
                    bounds = tokens[j + 1 : end]
                elif tokens[j - 1].text not in ("__attribute__", "(", "noexcept"):
                    body = next((k for k in range(end, min(end + _SHORT, len(tokens))) if tokens[k].text in ("{", ";")), end)
                    if tokens[body].text == "{":
                        stop = ends[body] if body in ends else _end(tokens, body)
                        yield _Function(tokens[j - 1].text, tokens[j - 1], token.text == "__global__", bounds, tokens[j + 1 : end], tokens[body:stop])
                    break
                j = end
            j += 1


def _matches(tokens: list[_Token]) -> dict[int, int]:
    """Index of each opening bracket → index of the one that closes it."""
    found: dict[int, int] = {}
    open_ones: dict[str, list[int]] = {closing: [] for closing in _CLOSING.values()}
    for i, token in enumerate(tokens):
        if token.text in _CLOSING:
            open_ones[_CLOSING[token.text]].append(i)
        elif open_ones.get(token.text):
            found[open_ones[token.text].pop()] = i
    return found


def _end(tokens: list[_Token], start: int) -> int:
    """The index of the bracket that closes the one at `start`."""
    opening, depth = tokens[start].text, 0
    for i in range(start, len(tokens)):
        depth += (tokens[i].text == opening) - (tokens[i].text == _CLOSING[opening])
        if depth == 0:
            return i
    error = SyntaxError(f"`{opening}` is never closed")
    error.lineno = tokens[start].line
    raise error


def _kernel(function: _Function, functions: list[_Function], constants: Mapping[str, Any]) -> Subject:
    bounds = _number(_parts(function.bounds)[0], constants) if function.bounds else None
    facts: dict[str, Fact | None] = {
        "kernel": function.name,
        "uses_float64": any(token.text == "double" for token in (*function.parameters, *function.body)),
        "has_launch_bounds": function.bounds is not None,
        "launch_bounds": bounds,
        "shared_bytes": _shared(function, functions, constants),
    }
    return Subject("kernel", "", function.place.line, function.place.column, known(facts))


def _shared(function: _Function, functions: list[_Function], constants: Mapping[str, Any]) -> int | None:
    """Bytes of the static shared arrays of a kernel and of all functions that it reaches, each once; None where one cannot be told."""
    by_name: dict[str, list[_Function]] = {}
    for other in functions:
        if not other.is_kernel:
            by_name.setdefault(other.name, []).append(other)
    reached, waiting, seen = [function], [function], set[str]()
    while waiting:
        called = {token.text for token in waiting.pop().body if token.text in by_name} - seen
        seen |= called
        found = [other for name in sorted(called) for other in by_name[name]]
        reached += found
        waiting += found
    sizes = [size for each in reached for size in _shared_arrays(each, constants)]
    return None if None in sizes else sum(size for size in sizes if size)


def _shared_arrays(function: _Function, constants: Mapping[str, Any]) -> Iterator[int | None]:
    body = function.body
    for i, token in enumerate(body):
        if token.text == "__shared__" and body[i - 1].text != "extern":
            end = next((j for j in range(i, len(body)) if body[j].text == ";"), len(body))
            yield _declared(body[i + 1 : end], constants)


def _declared(tokens: list[_Token], constants: Mapping[str, Any]) -> int | None:
    """Bytes of `float tile[32][33], row[32]`."""
    words = [token.text for token in tokens]
    kind = next((word for word in words if word in _SIZES), None)
    if kind is None or "," in words:
        return None
    size = _SIZES[kind]
    i = 0
    while i < len(tokens):
        if words[i] == "[":
            end = _end(tokens, i)
            length = _number(tokens[i + 1 : end], constants)
            if length is None:
                return None
            size *= length
            i = end
        i += 1
    return size


def _launches(tokens: list[_Token], kernels: Mapping[str, Subject], constants: Mapping[str, Any]) -> Iterator[Subject]:
    for i, token in enumerate(tokens):
        name, parts = None, []
        if token.text == "<<<":
            end = next((j for j in range(i, min(i + _NEAR, len(tokens))) if tokens[j].text == ">>>"), i)
            name, parts = _launched(tokens, i), _parts(tokens[i + 1 : end])
        elif token.text == "hipLaunchKernelGGL" and i + 1 < len(tokens) and tokens[i + 1].text == "(":
            parts = _parts(tokens[i + 2 : _end(tokens, i + 1)])
            words = [one.text for one in parts[0] if one.text in kernels] if parts else []
            name, parts = (words[0] if words else None), parts[1:]
        if name is None or len(parts) < 2:
            continue
        kernel = kernels.get(name)
        carried = {key: kernel.facts.get(key) for key in ("has_launch_bounds", "launch_bounds")} if kernel else {}
        yield Subject(
            "launch",
            "",
            token.line,
            token.column,
            known({"kernel": name, "block_threads": _threads(parts[1], tokens[max(0, i - _NEAR) : i], constants), **carried}),
        )


def _launched(tokens: list[_Token], at: int) -> str | None:
    """The name before `<<<`, whose template arguments are passed over."""
    i = at - 1
    if tokens[i].text == ">":
        depth = 0
        while i >= 0:
            depth += (tokens[i].text == ">") - (tokens[i].text == "<")
            i -= 1
            if depth == 0:
                break
    return tokens[i].text if i >= 0 and re.fullmatch(r"[A-Za-z_]\w*", tokens[i].text) else None


def _threads(tokens: list[_Token], before: list[_Token], constants: Mapping[str, Any]) -> int | None:
    """Threads of a block that is a number, `dim3(…)`, or a variable that was declared as one."""
    words = [token.text for token in tokens]
    if words[:2] == ["dim3", "("] and _end(tokens, 1) == len(tokens) - 1:
        sizes = [_number(part, constants) for part in _parts(tokens[2:-1])]
        if None in sizes:
            return None
        product = 1
        for size in sizes:
            product *= size or 0
        return product
    if len(words) == 1 and words[0] not in constants and (declared := _declaration(words[0], before)):
        return _threads(declared, before, constants) if [token.text for token in declared] != words else None
    return _number(tokens, constants)


def _declaration(name: str, tokens: list[_Token]) -> list[_Token] | None:
    """What the last declaration of a variable says: `dim3 grid(7), block(32, 8);`, `const dim3 block = dim3(32, 8);`, `int block = 256;`."""
    for i in range(len(tokens) - 2, 0, -1):
        if tokens[i].text != name or tokens[i + 1].text not in ("=", "(", "{"):
            continue
        begin = next((j for j in range(i, -1, -1) if tokens[j].text in (";", "{", "}")), -1) + 1
        kind = next((token for token in tokens[begin:i] if token.text == "dim3"), None)
        if tokens[i + 1].text != "=" and kind:
            end = _end(tokens, i + 1)
            opened, closed = (replace(tokens[at], text=text) for at, text in ((i + 1, "("), (end, ")")))
            return [kind, opened, *tokens[i + 2 : end], closed]
        if tokens[i + 1].text == "=" and (kind or re.fullmatch(r"[A-Za-z_]\w*", tokens[i - 1].text)):
            return tokens[i + 2 : next((j for j in range(i, len(tokens)) if tokens[j].text == ";"), len(tokens))]
    return None


def _parts(tokens: list[_Token]) -> list[list[_Token]]:
    """The arguments of a list, between its outer commas."""
    parts: list[list[_Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
