"""Facts of Triton source: kernels, their configurations and launches, what they load and store; from Python's syntax tree alone."""

from __future__ import annotations

import ast
import itertools
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .static import NotStatic, bind, bounded, comprehension, static
from .subject import Fact, Subject, known
from .tiles import Access, Budget, Tiles, walk_kernel

_MOST_CONFIGURATIONS = 256
"""Of one kernel: beyond it a rule would repeat itself."""
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "grf_mode", "warp_size", "threads_per_warp", "maxnreg", "num_buffers_warp_spec")
_DEFAULTS = {"num_warps": 4, "num_ctas": 1, "grf_mode": "default"}
_UNKNOWN = object()
"""A value that is said, and that only a run can tell."""


@dataclass(frozen=True)
class _Config:
    """One `triton.Config`, or a launch: constexprs and options; a value may be _UNKNOWN."""

    node: ast.AST
    values: Mapping[str, Any]
    is_complete: bool = True
    """False where some of it could not be read: then whatever it does not say is unknown."""


@dataclass(frozen=True)
class _Kernel:
    """A `@triton.jit` function."""

    node: ast.FunctionDef
    constexprs: tuple[str, ...]
    autotune: ast.Call | None
    heuristics: tuple[str, ...] = ()
    """Constexprs that a heuristic fills in."""

    @property
    def parameters(self) -> list[str]:
        given = self.node.args
        return [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def subjects(file: str, text: str) -> list[Subject]:
    """Every subject in a file; raises SyntaxError where it is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = _Source(ast.parse(text))
    return [replace(subject, file=file) for subject in source.subjects()]


class _Source:
    """A file's tree, with its imports, its constants, its kernels and their launches."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._budget = Budget()
        self._aliases = {"tl": "tl", "triton": "triton", "torch": "torch"} | dict(_imports(tree))
        self._bodies = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
        self._functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.constants = self._read_constants()
        self._kernels = {node.name: kernel for node in self._functions.values() if (kernel := self._as_kernel(node))}
        self._launches = list(self._find_launches())

    def dotted(self, node: ast.expr) -> str:
        """What a name means: `tl.load`, `torch.empty`; `.item` for a method of a value."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name) and (not parts or node.id in self._aliases):
            name = ".".join([self._aliases.get(node.id, node.id), *parts])
            return name.replace("triton.language.", "tl.", 1) if name.startswith("triton.language.") else name
        return f".{parts[-1]}" if parts else ""

    def subjects(self) -> Iterator[Subject]:
        for kernel in self._kernels.values():
            yield _at("kernel", kernel.node, {"kernel": kernel.node.name, "has_launch_bounds": False, "uses_float64": self._uses_float64(kernel)})
            tiles = self._walk(kernel, {})
            yield from (self._access(kernel, access) for access in tiles.accesses)
            yield from (_at("offset", one, {"kernel": kernel.node.name, "expression": ast.unparse(one)}) for one in _once(tiles.offsets))
            if kernel.autotune:
                yield self._autotune(kernel, tiles)
            yield from itertools.islice(self._configurations(kernel), _MOST_CONFIGURATIONS)
        yield from self._calls()

    def _read_constants(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in self._bodies.items():
            try:
                is_wrapped = isinstance(value, ast.Call) and self.dotted(value.func) == "tl.constexpr"
                found[name] = static(_argument(value, "value", 0) if is_wrapped and isinstance(value, ast.Call) else value, found)
            except NotStatic:
                continue
        return found

    def _as_kernel(self, node: ast.FunctionDef) -> _Kernel | None:
        calls = {self.dotted(one.func): one for one in node.decorator_list if isinstance(one, ast.Call)}
        names = {self.dotted(one) for one in node.decorator_list if not isinstance(one, ast.Call)} | set(calls)
        if not names & {"triton.jit", "triton.runtime.jit"}:
            return None
        given = node.args
        constexprs = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.annotation and self.dotted(a.annotation) == "tl.constexpr"]
        heuristics = calls.get("triton.heuristics")
        filled: tuple[str, ...] = ()
        for part in ast.walk(heuristics) if heuristics else ():
            if isinstance(part, ast.Dict):
                filled += tuple(str(key.value) for key in part.keys if isinstance(key, ast.Constant))
        return _Kernel(node, tuple(constexprs), calls.get("triton.autotune"), filled)

    def _uses_float64(self, kernel: _Kernel) -> bool:
        return any(isinstance(part, ast.Attribute) and self.dotted(part) == "tl.float64" for part in ast.walk(kernel.node))

    def _walk(self, kernel: _Kernel, constexprs: Mapping[str, Any]) -> Tiles:
        return walk_kernel(kernel.node, constexprs, self.constants, self.dotted, self._budget)

    # Configurations: what stands in autotune lists, joined with what launches pass.

    def _configurations(self, kernel: _Kernel) -> Iterator[Subject]:
        launches = [config for owner, call, local in self._launches if owner == kernel.node.name for config in self._launched(kernel, call, local)]
        tuned = self._configs(_argument(kernel.autotune, "configs", 0)) if kernel.autotune else []
        is_helper = not launches and not kernel.autotune and self._is_called(kernel)
        if is_helper:
            return
        launches = launches or [_Config(kernel.node, {}, is_complete=False)]
        for launch in launches:
            for config in tuned or [launch]:
                values = {**launch.values, **config.values}
                yield self._configuration(kernel, _Config(config.node, values, launch.is_complete and config.is_complete), is_autotuned=bool(tuned))

    def _configuration(self, kernel: _Kernel, config: _Config, *, is_autotuned: bool) -> Subject:
        said = {**self._defaults(kernel), **config.values, **dict.fromkeys(kernel.heuristics, _UNKNOWN)}
        constexprs = {name: value for name, value in said.items() if name in kernel.constexprs and value is not _UNKNOWN}
        options = {name: said[name] for name in _OPTIONS if name in said}
        words = ", ".join(f"{name}={value}" for name, value in {**constexprs, **options}.items() if value is not _UNKNOWN)
        options = {**(_DEFAULTS if config.is_complete else {}), **options}
        tiles = self._walk(kernel, constexprs)
        asked = options.get("warp_size", options.get("threads_per_warp"))
        facts: dict[str, Fact | None] = {
            "kernel": kernel.node.name,
            "values": words or "no values that are known",
            "is_autotuned": is_autotuned,
            "num_warps": _whole(options.get("num_warps")),
            "num_stages": _whole(options.get("num_stages")),
            "num_ctas": _whole(options.get("num_ctas")),
            "grf_mode": mode if isinstance(mode := options.get("grf_mode"), str) else None,
            "says_warp_size": asked is not None if config.is_complete else None,
            "asked_warp_size": _whole(asked),
        }
        return _at("configuration", config.node, {**facts, **_tile_facts(tiles)})

    def _defaults(self, kernel: _Kernel) -> dict[str, Any]:
        given = kernel.node.args
        positional = [*given.posonlyargs, *given.args]
        pairs = [*zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
        return {argument.arg: self._read(default, self.constants) for argument, default in pairs if default is not None}

    def _configs(self, node: ast.expr | None, names: Mapping[str, Any] | None = None) -> list[_Config]:
        """The configurations that an expression lists; one of which nothing is known, where it cannot be told."""
        names = self.constants if names is None else names
        self._budget.spend()
        match node:
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                return [config for each in elts for config in self._configs(each.value if isinstance(each, ast.Starred) else each, names)]
            case ast.ListComp(elt=elt, generators=generators):
                try:
                    return [config for inner in bounded(comprehension(generators, names)) for config in self._configs(elt, inner)]
                except NotStatic:
                    return [_Config(node, {}, is_complete=False)]
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return [*self._configs(left, names), *self._configs(right, names)]
            case ast.Name(id=name) if name in self._bodies:
                return self._configs(self._bodies[name])
            case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in self._functions and (returned := _returned(self._functions[name])):
                return self._configs(returned)
            case ast.Call(func=function) if self.dotted(function) == "triton.Config":
                return [self._config(node, names)]
            case _:
                return [_Config(node or self._tree, {}, is_complete=False)]

    def _config(self, node: ast.Call, names: Mapping[str, Any]) -> _Config:
        said = _argument(node, "kwargs", 0)
        values = {word.arg: self._read(word.value, names) for word in node.keywords if word.arg and word.arg != "kwargs"}
        values |= {name: self._read(value, names) for name, value in zip(_OPTIONS[:2], node.args[1:3], strict=False)}
        is_complete = isinstance(said, ast.Dict) and all(isinstance(key, ast.Constant) for key in said.keys)
        if isinstance(said, ast.Dict):
            pairs = zip(said.keys, said.values, strict=True)
            values |= {str(key.value): self._read(value, names) for key, value in pairs if isinstance(key, ast.Constant)}
        return _Config(node, {"num_warps": 4, "num_stages": 3, **values}, is_complete)

    def _read(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        try:
            return static(node, names)
        except NotStatic:
            return _UNKNOWN

    # Launches: `kernel[grid](…)`, with what is known of the names around them.

    def _find_launches(self) -> Iterator[tuple[str, ast.Call, list[dict[str, Any]]]]:
        """Kernel, call, and the values that the names around it may have together."""
        for function in (*self._functions.values(), self._tree):
            inner = {part for other in ast.walk(function) if isinstance(other, ast.FunctionDef) and other is not function for part in ast.walk(other)}
            calls = [part for part in ast.walk(function) if isinstance(part, ast.Call) and part not in inner]
            found = [(part.func.value.id, part) for part in calls if isinstance(part.func, ast.Subscript) and isinstance(part.func.value, ast.Name)]
            launches = [(name, call) for name, call in found if name in self._kernels]
            local = self._local_names(function, {name for _, call in launches for name in _names(call)}) if launches else []
            yield from ((name, call, local) for name, call in launches)

    def _local_names(self, function: ast.AST, wanted: set[str]) -> list[dict[str, Any]]:
        """The alternatives that assignments to wanted names give: those to the same names, as in the branches of an `if`, exclude each other."""
        groups: dict[str, list[dict[str, Any]]] = {}
        changing: dict[str, Any] = {}
        for part in ast.walk(function):
            if isinstance(part, ast.AugAssign | ast.For | ast.NamedExpr):
                changing |= dict.fromkeys(_names(part.target), _UNKNOWN)
            if isinstance(part, ast.Assign):
                for target in part.targets:
                    groups.setdefault(ast.unparse(target), []).append(self._assigned(target, part.value))
        used = [alternatives for alternatives in groups.values() if any(wanted & set(one) for one in alternatives)]
        counted = Counter(name for alternatives in used for name in {name for one in alternatives for name in one})
        changing |= {name: _UNKNOWN for name, count in counted.items() if count > 1}
        several = itertools.islice(itertools.product(*used), _MOST_CONFIGURATIONS)
        return [{**self.constants, **{name: value for one in choice for name, value in one.items()}, **changing} for choice in several]

    def _assigned(self, target: ast.expr, value: ast.expr) -> dict[str, Any]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return {name: each for one, part in zip(target.elts, value.elts, strict=True) for name, each in self._assigned(one, part).items()}
        try:
            return bind(target, static(value, self.constants))
        except NotStatic:
            return dict.fromkeys(_names(target), _UNKNOWN)

    def _launched(self, kernel: _Kernel, call: ast.Call, alternatives: list[dict[str, Any]]) -> list[_Config]:
        found: list[_Config] = []
        for names in alternatives or [self.constants]:
            certain = {name: value for name, value in names.items() if value is not _UNKNOWN}
            values = {name: self._read(arg, certain) for name, arg in zip(kernel.parameters, call.args, strict=False)}
            values |= {word.arg: self._read(word.value, certain) for word in call.keywords if word.arg}
            wanted = {name: value for name, value in values.items() if name in kernel.constexprs or name in _OPTIONS}
            is_complete = all(word.arg for word in call.keywords) and not any(isinstance(arg, ast.Starred) for arg in call.args)
            config = _Config(call, wanted, is_complete)
            if config not in found:
                found.append(config)
        return found

    def _is_called(self, kernel: _Kernel) -> bool:
        """Whether another kernel calls it: then it has no configuration of its own."""
        return any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == kernel.node.name
            for other in self._kernels.values()
            for part in ast.walk(other.node)
        )

    # The rest: autotune, accesses, calls.

    def _autotune(self, kernel: _Kernel, tiles: Tiles) -> Subject:
        assert kernel.autotune
        key = _argument(kernel.autotune, "key", 1)
        names = self._read(key, self.constants) if key else ()
        configs = self._configs(_argument(kernel.autotune, "configs", 0))
        missing = [name for name in self._sizes(kernel) if names is not _UNKNOWN and name not in names]
        is_known = all(config.is_complete for config in configs)
        tuned = {name for config in configs for name in config.values}
        launches = [call for owner, call, _ in self._launches if owner == kernel.node.name]
        redefined = sorted({word.arg for call in launches for word in call.keywords if word.arg in tuned})
        facts: dict[str, Fact | None] = {
            "kernel": kernel.node.name,
            "configs": len(configs) if is_known else None,
            "key": ", ".join(names) if names is not _UNKNOWN else None,
            "missing": ", ".join(missing),
            "missing_count": len(missing) if names is not _UNKNOWN else None,
            "redefined": ", ".join(redefined),
            "redefined_count": len(redefined) if is_known or redefined else None,
            "has_atomics": any(access.operation.startswith("atomic") for access in tiles.accesses),
            "restores": any(word.arg in ("reset_to_zero", "restore_value", "pre_hook") for word in kernel.autotune.keywords),
        }
        return _at("autotune", kernel.autotune, facts)

    def _sizes(self, kernel: _Kernel) -> list[str]:
        """Arguments that are no constexprs and bound a loop or a mask: in a `range`, or compared with `<`."""
        places: list[ast.expr] = []
        for part in ast.walk(kernel.node):
            if isinstance(part, ast.Call) and self.dotted(part.func) in ("range", "tl.range", "tl.cdiv"):
                places += part.args
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt | ast.LtE):
                places += part.comparators
        used = {name for place in places for name in _names(place)}
        return [name for name in kernel.parameters if name in used and name not in kernel.constexprs]

    def _access(self, kernel: _Kernel, access: Access) -> Subject:
        words = {word.arg for word in access.node.keywords}
        pointer = access.pointer
        given = len(access.node.args)
        places = {"load": (2, 4), "store": (3, 4)}.get(access.operation, (3, 99))
        facts: dict[str, Fact | None] = {
            "kernel": kernel.node.name,
            "operation": access.operation,
            "is_tile": pointer.shape != () if pointer.shape is not None else None,
            "is_block_pointer": pointer.kind == "block-pointer" if pointer.shape is not None or pointer.kind != "plain" else None,
            "is_descriptor": pointer.kind == "descriptor" if pointer.shape is not None or pointer.kind != "plain" else None,
            "has_mask": "mask" in words or (given >= places[0] and pointer.kind == "plain"),
            "has_boundary_check": "boundary_check" in words or (given >= places[1] and pointer.kind == "plain"),
        }
        return _at("access", access.node, facts)

    def _calls(self) -> Iterator[Subject]:
        owners = {part: name for name, function in self._functions.items() for part in ast.walk(function) if isinstance(part, ast.Call)}
        for part in ast.walk(self._tree):
            if isinstance(part, ast.Call) and (name := self.dotted(part.func)):
                owner = owners.get(part, "")
                yield _at("call", part, {"call": name, "function": owner, "in_kernel": owner in self._kernels})


def _tile_facts(tiles: Tiles) -> dict[str, Fact | None]:
    """None where a length is not known, unless those that are known settle it."""
    odd = [length for length in tiles.lengths if length is not None and (length <= 0 or length & (length - 1))]
    m, n, k = (_least([dot[place] for dot in tiles.dots]) for place in range(3))
    products = [rows * cols * 4 if rows and cols else None for rows, cols, _ in tiles.dots]
    operands = [(rows + cols) * depth if rows and cols and depth else None for rows, cols, depth in tiles.dots]
    return {
        "tile_elements": _most(tiles.elements),
        "odd_length": odd[0] if odd else (None if None in tiles.lengths else 0),
        "dots": len(tiles.dots),
        "dot_m": m,
        "dot_n": n,
        "dot_k": k,
        "accumulator_bytes": _most(products),
        "operand_elements": _most(operands),
    }


def _most(numbers: list[int | None]) -> int | None:
    found = [number for number in numbers if number is not None]
    return max(found) if found and len(found) == len(numbers) else None


def _least(numbers: list[int | None]) -> int | None:
    found = [number for number in numbers if number is not None]
    return min(found) if found and len(found) == len(numbers) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _argument(call: ast.Call | None, name: str, place: int) -> ast.expr | None:
    if call is None:
        return None
    return next((word.value for word in call.keywords if word.arg == name), call.args[place] if len(call.args) > place else None)


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    """What a function without anything but a docstring and a `return` returns."""
    body = [part for part in function.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _names(node: ast.AST) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _once(nodes: list[ast.BinOp]) -> list[ast.BinOp]:
    """Each place once: a loop's body may be walked more than once."""
    return list({(node.lineno, node.col_offset): node for node in nodes}.values())


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that imports bind → what they mean, `triton.language` as `tl`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    yield bound, _short_name(alias.name if alias.asname else bound)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((alias.asname or alias.name, _short_name(f"{module}.{alias.name}")) for alias in names)
            case _:
                pass


def _short_name(name: str) -> str:
    return f"tl{name.removeprefix('triton.language')}" if name == "triton.language" or name.startswith("triton.language.") else name


def _at(about: str, node: ast.AST, facts: Mapping[str, Fact | None]) -> Subject:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    return Subject(about, "", line, column, known(facts))
