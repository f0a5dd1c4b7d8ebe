"""Marks the places from which functions with warp functions inside are called.

Lanes of a warp meet at a warp function by its place in the source. One inside of a helper has a single place however it is reached, so calls are wrapped:

    wave_sum(x)  →  hipcpu::at(__LINE__, 7, [&]() -> decltype(auto) { return wave_sum(x); })

and lanes are told apart, and put in order, by the way from the kernel down to them. Warp functions themselves are wrapped where several share a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from .tokens import NotFound, Token, closing_angle, closing_bracket, is_word, step, text_at

_WARP = re.compile(r"__(?:shfl|ballot|any|all|activemask|syncwarp|match_any|reduce)\w*|__builtin_amdgcn_(?:ds_bpermute|readfirstlane|wave_barrier)")
_METHODS = frozenset({"shfl", "shfl_xor", "shfl_up", "shfl_down", "ballot", "any", "all", "sync"})
_BEFORE_CALL = frozenset({"return", "else", "do", "case", "co_return", "throw"})
_NO_FUNCTIONS = frozenset({"if", "while", "for", "switch", "catch", "constexpr", "decltype", "alignas", "sizeof"})


def collective_functions(files: Iterable[list[Token]]) -> frozenset[str]:
    """Names of functions, and of lambdas that have one, in which a warp function is reached."""
    bodies: dict[str, set[str]] = {}
    for tokens in files:
        for name, first, last in _definitions(tokens):
            bodies.setdefault(name, set()).update(_called(tokens, first, last))
    found = {name for name, called in bodies.items() if "" in called}
    while more := {name for name, called in bodies.items() if name not in found and called & found}:
        found |= more
    return frozenset(found)


def mark_calls(tokens: list[Token], functions: frozenset[str]) -> None:
    """Wraps the calls of `functions`, and warp functions that share a line or stand in a macro."""
    bodies = [(first, last) for _, first, last in _definitions(tokens)]
    lines = _line_numbers(tokens)
    places = [i for i in range(len(tokens)) if _is_call(tokens, i, functions, bodies)]
    together = Counter(lines[i] for i in places)
    ordinal = 0
    for i in places:
        if tokens[i].text in functions or tokens[i].directive or together[lines[i]] > 1:
            with suppress(NotFound):
                end = closing_bracket(tokens, _arguments(tokens, i))
                ordinal += 1
                tokens[i].text = f"hipcpu::at(__LINE__, {ordinal}, [&]() -> decltype(auto) {{ return {tokens[i].text}"
                tokens[end].text += "; })"


def _called(tokens: list[Token], first: int, last: int) -> Iterator[str]:
    """Names that are called between two places; "" for a warp function."""
    for i in range(first, last):
        if is_word(tokens, i) and _is_followed_by_arguments(tokens, i):
            text = tokens[i].text
            is_method = text_at(tokens, step(tokens, i, -1)) in (".", "->")
            yield "" if _WARP.fullmatch(text) or (is_method and text in _METHODS) else text


def _definitions(tokens: list[Token]) -> Iterator[tuple[str, int, int]]:
    """Functions and named lambdas: the name, and where the body begins and ends."""
    for i, token in enumerate(tokens):
        if token.text != "(" or token.kind != "punct" or token.directive:
            continue
        with suppress(NotFound):
            brace = step(tokens, closing_bracket(tokens, i))
            while is_word(tokens, brace) and tokens[brace].text in ("const", "noexcept", "mutable", "__device__", "__host__", "__forceinline__"):
                brace = step(tokens, brace)
            if text_at(tokens, brace) == "->":
                while text_at(tokens, brace) not in ("{", ";", ""):
                    brace = step(tokens, brace)
            if text_at(tokens, brace) == "{" and (name := _name_of(tokens, i)):
                yield name, brace, closing_bracket(tokens, brace)


def _name_of(tokens: list[Token], parameters: int) -> str:
    before = step(tokens, parameters, -1)
    while is_word(tokens, before) and tokens[before].text in ("__device__", "__host__", "__forceinline__"):
        before = step(tokens, before, -1)
    if is_word(tokens, before):
        return "" if tokens[before].text in _NO_FUNCTIONS else tokens[before].text
    if text_at(tokens, before) == "]":  # a lambda: `auto name = [&](…) {`
        while before >= 0 and text_at(tokens, before) != "[":
            before = step(tokens, before, -1)
        equals = step(tokens, before, -1)
        name = step(tokens, equals, -1)
        return tokens[name].text if text_at(tokens, equals) == "=" and is_word(tokens, name) else ""
    return ""


def _is_call(tokens: list[Token], i: int, functions: frozenset[str], bodies: list[tuple[int, int]]) -> bool:
    if not is_word(tokens, i) or not (tokens[i].text in functions or _WARP.fullmatch(tokens[i].text)) or not _is_followed_by_arguments(tokens, i):
        return False
    before = step(tokens, i, -1)
    if text_at(tokens, before) in (".", "->", "::", "new") or (is_word(tokens, before) and tokens[before].text not in _BEFORE_CALL):
        return False  # a method, a qualified name, or a declaration
    return bool(tokens[i].directive) or any(first < i < last for first, last in bodies)


def _is_followed_by_arguments(tokens: list[Token], i: int) -> bool:
    try:
        _arguments(tokens, i)
    except NotFound:
        return False
    return True


def _arguments(tokens: list[Token], i: int) -> int:
    after = step(tokens, i)
    if text_at(tokens, after) == "<" and text_at(tokens, after + 1) != "<":  # a launch is no call
        after = step(tokens, closing_angle(tokens, after))
    if text_at(tokens, after) != "(" or tokens[after].directive != tokens[i].directive:
        raise NotFound
    return after


def _line_numbers(tokens: list[Token]) -> list[int]:
    numbers, line = [], 1
    for token in tokens:
        numbers.append(line)
        line += token.text.count("\n")
    return numbers
