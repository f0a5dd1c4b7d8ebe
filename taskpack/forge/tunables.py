"""Numbers in a kernel's source that may be others: found by their form, replaced where they stand.

A tunable is a whole number that the author wrote as a choice: in C++ and HIP a `constexpr` or `#define` of a power of two, in Triton a keyword of a launch or
configuration in capital letters, `num_warps` and `num_stages`, a default of a `tl.constexpr`, and a constant in capital letters at the top of the module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

LARGEST = 4096
"""No tile, block or count of warps is larger."""
_STAGES = range(1, 8)
_C_CONSTANT = re.compile(
    r"""(?:
        \bconstexpr \s+ (?:static\s+|inline\s+|const\s+)* (?:unsigned\s+|signed\s+)? [A-Za-z_][\w:]* \s+ (?P<name>[A-Za-z_]\w*) \s* (?:=\s*|\{\s*)
      | ^[ \t]*\#[ \t]*define [ \t]+ (?P<macro>[A-Za-z_]\w*) [ \t]+
    ) (?P<value>[1-9]\d*) (?P<suffix>[uUlL]*) (?![\w.'])""",
    re.VERBOSE | re.MULTILINE,
)
_C_SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@dataclass(frozen=True)
class Tunable:
    """One number at one place of a file."""

    file: str
    name: str
    value: int
    start: int
    """Offset of its first digit in the file's text."""
    end: int

    def choices(self) -> tuple[int, ...]:
        """Other values worth a try, the nearest first: halves and doubles, and for stages of a pipeline the neighbours."""
        if self.name == "num_stages":
            return tuple(value for value in (self.value + 1, self.value - 1) if value in _STAGES)
        return tuple(value for value in (self.value * 2, self.value // 2) if 1 <= value <= LARGEST)


def find_tunables(language: str, files: Mapping[str, str]) -> tuple[Tunable, ...]:
    """Every tunable of the files, in the order in which they stand; a file that does not parse has none."""
    find = _in_python if language in ("triton", "torch") else _in_c
    return tuple(tunable for file, text in files.items() for tunable in sorted(find(file, text), key=lambda found: found.start))


def replace_values(files: Mapping[str, str], changes: Iterable[tuple[Tunable, int]]) -> dict[str, str]:
    """The files with other numbers; the tunables must have been found in these very files."""
    changed = dict(files)
    for tunable, value in sorted(changes, key=lambda change: change[0].start, reverse=True):
        text = changed[tunable.file]
        changed[tunable.file] = f"{text[: tunable.start]}{value}{text[tunable.end :]}"
    return changed


def _in_c(file: str, text: str) -> Iterator[Tunable]:
    code = _C_SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for match in _C_CONSTANT.finditer(code):
        value = int(match["value"])
        if _is_choice(value):
            yield Tunable(file, match["name"] or match["macro"], value, match.start("value"), match.end("value"))


def _in_python(file: str, text: str) -> Iterator[Tunable]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    starts = _line_starts(text)
    for name, node in _named(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if type(value) is int and node.end_col_offset is not None and _is_choice(value, name):
            start = _offset(text, starts, node.lineno, node.col_offset)
            yield Tunable(file, name, value, start, _offset(text, starts, node.lineno, node.end_col_offset))


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Expressions that stand under a name in which one writes a choice."""
    for name, node in _all_named(tree):
        if name in ("num_warps", "num_stages") or name.isupper():
            yield name, node


def _all_named(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            yield statement.targets[0].id, statement.value
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "Config" and node.args and isinstance(node.args[0], ast.Dict):
                pairs = zip(node.args[0].keys, node.args[0].values, strict=True)
                yield from ((str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant))
        elif isinstance(node, ast.FunctionDef):
            yield from _constexpr_defaults(node.args)


def _constexpr_defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [(argument, value) for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None]
    for argument, value in pairs:
        if argument.annotation is not None and ast.unparse(argument.annotation).endswith("constexpr"):
            yield argument.arg, value


def _is_choice(value: int, name: str = "") -> bool:
    return value in _STAGES if name == "num_stages" else 1 <= value <= LARGEST and value & (value - 1) == 0


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(text: str, starts: list[int], line: int, utf8_column: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    start = starts[line - 1]
    before = text[start : starts[line]].encode()[:utf8_column]
    return start + len(before.decode())
