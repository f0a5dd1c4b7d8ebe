"""The house's own rules: who imports whom, how long things are, how modules open, what travels."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "taskpack"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.stat().st_size)
LONGEST_MODULE = 400
LONGEST_FUNCTION = 45
MOSTLY = 30

_FOREIGN = {"torch", "numpy"}
"""What a harness may find on the machine where it runs."""
_ASKED_FOR = {"triton.py": {"triton"}, "conditions.py": {"pynvml"}}
"""What one module asks for, and does without where it is missing."""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{_name(path)}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


def test_storeys() -> None:
    done = subprocess.run([Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_open_with_one_sentence(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    first = docstring.split("\n\n")[0]
    assert first.rstrip().endswith((".", ":"))


def test_functions_are_short() -> None:
    lengths = dict(one for path in MODULES for one in _functions(path))
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}
    long = sum(length > MOSTLY for length in lengths.values())
    assert long <= len(lengths) / 20, f"{long} of {len(lengths)} functions are longer than {MOSTLY} lines"


@pytest.mark.parametrize("path", [path for path in MODULES if "runtime" in path.parts], ids=_name)
def test_the_runtime_needs_the_standard_library_and_torch_alone(path: Path) -> None:
    wanted: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            wanted |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            wanted.add((node.module or "").partition(".")[0])
    allowed = sys.stdlib_module_names | _FOREIGN | _ASKED_FOR.get(path.name, set())
    assert wanted <= allowed


def test_packages_import_nothing() -> None:
    """An `__init__` that gathers names makes cycles and slow starts."""
    for path in PACKAGE.rglob("__init__.py"):
        imports = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Import | ast.ImportFrom)]
        foreign = [ast.unparse(node) for node in imports if not _is_standard(node)]
        assert foreign == [] or path.parent.name == "languages", path


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def test_broad_excepts_stand_at_the_boundaries_only() -> None:
    """The command line's own, and round the candidate."""
    found = {_name(path) for path in MODULES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if _is_broad(node)}
    allowed = {"taskpack/cli/app.py", *(name for name in found if name.startswith("taskpack/runtime/"))}
    assert found <= allowed


def _is_broad(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    names = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    ends_in_raise = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
    return not ends_in_raise and any(name is None or (isinstance(name, ast.Name) and name.id in ("Exception", "BaseException")) for name in names)


def test_names_that_say_nothing() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                assert not node.name.endswith(("Manager", "Helper", "Utils", "Base", "Handler")), f"{_name(path)}: {node.name}"
        assert path.stem not in ("utils", "helpers", "common", "misc")
