"""Checks of meaning beyond those that tests/bad shows, each with the line that it is about."""

import pytest

from taskpack.errors import PackInvalid
from taskpack.packs.check import check_pack
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import Shelf

from .samples import OP, TASK, write_pack

INPUT = "init = { normal = { std = 3.0 } }"


def _found(folder) -> list[str]:
    """Codes and the marked text of every diagnostic."""
    try:
        diagnostics = check_pack(load_pack(folder), Shelf([folder]))
    except PackInvalid as invalid:
        diagnostics = invalid.diagnostics
    return [f"{d.code} {d.source_line[d.column - 1 :][: d.length]}" for d in diagnostics]


@pytest.mark.parametrize(
    ("init", "dtype", "found"),
    [
        ('{ partition = { of = "rows" } }', "int32", ["P052 partition"]),
        ("{ normal = {} }", "int32", ["P052 normal"]),
        ("{ uniform = { low = 2, high = 1 } }", "float32", ["P052 2"]),
        ('{ csr = { columns = "cols", indptr = "x" } }', "int32", ['P052 "x"']),
        ('{ derive = { expression = "x * 2" } }', "float32", ["P031 x"]),
        ('{ derive = { expression = "T" } }', "float32", ["P032 T"]),
        ('{ index = { below = "cols / 2" } }', "int32", ["P032 cols / 2"]),
        ('{ index = { below = "cols - 65" } }', "int32", ["P033 cols - 65"]),
        ("{ index = { below = -1 } }", "int32", ["P014 -1"]),
        ("{ mask = { density = 2 } }", "bool", ["P014 2"]),
        ('{ file = { path = "/etc/passwd" } }', "int32", ['P041 "/etc/passwd"']),
        ('{ file = { path = "x.bin" } }', "int32", ['P040 "x.bin"']),
        ("{ generator = false }", "int32", ["P013 false"]),
        ("{}", "int32", ["P051 {}"]),
        ("{ uniform = {} }", "bool", []),
        ("{ sorted = { low = -1, high = 5 } }", "int8", []),
    ],
)
def test_inits(tmp_path, init, dtype, found):
    folder = write_pack(tmp_path, OP, ('dtype = "T"\n' + INPUT, f'dtype = "{dtype}"\ninit = {init}'))
    assert _found(folder) == found


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("{ range = [1, 100], multiple-of = 8, not-multiple-of = 16 }", []),
        ("{ range = [5, 6], multiple-of = 4 }", ["P065 [5, 6]"]),
        ("{ range = [0, 100], log = true }", ["P065 log"]),
        ("{ range = [1.5, 100] }", ["P063 1.5"]),
        ("{ range = [-3, 100] }", ["P063 -3"]),
        ("{ choice = [1], range = [1, 2] }", ["P065 { choice = [1], range = [1, 2] }"]),
        ("{ choice = [1], log = true }", ["P065 log"]),
        ("{ choice = [] }", ["P014 []"]),
        ("{ range = [1, 2, 3] }", ["P014 [1, 2, 3]"]),
        ("{ rnage = [1, 2] }", ["P010 rnage"]),
        ("true", ["P063 true"]),
    ],
)
def test_rules(tmp_path, rule, found):
    assert _found(write_pack(tmp_path, OP, ("{ range = [1, 100] }", rule))) == found


def test_a_range_is_for_numbers(tmp_path):
    assert _found(write_pack(tmp_path, OP, ('T = "float32"\n', "T = { range = [1, 2] }\n"))) == ["P012 { range = [1, 2] }"]
    unseen = OP.rindex('T = "float32"')
    assert _found(write_pack(tmp_path, OP[:unseen] + "T = { range = [1, 2] }\n")) == ["P065 range"]


def test_dimensions_that_python_could_not_hold(tmp_path):
    assert _found(write_pack(tmp_path, OP, ("rows = 64", f"rows = {2**63}"))) == [f"P063 {2**63}"]
    assert _found(write_pack(tmp_path, OP, ("rows = 64", "rows = true"))) == ["P063 true"]


def test_reductions_are_expressions(tmp_path):
    tolerance = '[op.tolerance]\nreduction = "colz"\n[op.tolerance.output.y]\nreduction = "rows > 1"\n\n[op.cost]'
    assert _found(write_pack(tmp_path, OP, ("[op.cost]", tolerance))) == ["P031 colz", "P032 rows > 1"]


def test_invariants_are_conditions(tmp_path):
    folder = write_pack(tmp_path, OP, ("constraints = [", 'invariants = ["x > 0", "max(x) > 0", "max(y) > 0"]\nconstraints = ['))
    assert _found(folder) == ["P032 x > 0", "P031 y"]


def test_a_constraint_without_a_value(tmp_path):
    assert _found(write_pack(tmp_path, OP, ('"rows > 0"', '"rows // (cols - 64) < 1"'))) == ['P064 "square"']


def test_counts(tmp_path):
    count = '[[op.output]]\nname = "n"\nshape = []\ndtype = "int32"\n\n[op.cost]'
    assert _found(write_pack(tmp_path, OP, ('name = "y"', 'name = "y"\ncount = "n"'), ("[op.cost]", count))) == []
    assert _found(write_pack(tmp_path, OP, ('name = "y"', 'name = "y"\ncount = "y"'))) == ['P054 "y"']
    assert _found(write_pack(tmp_path, OP, ('name = "y"', 'name = "y"\ncount = "n"'), ("[op.cost]", count.replace("int32", "float32")))) == ['P054 "n"']


@pytest.mark.parametrize("entry", ["scale_{S}{T}", "2scale_{T}", "scale_{T!r}", "scale_{T:>9}", "scale_{", "scale_{T}.x", "scale", "{}_{T}"])
def test_entries(tmp_path, entry):
    assert _found(write_pack(tmp_path, TASK, ("scale_{T}", entry))) == [f'P074 "{entry}"']


def test_functional_style_returns_outputs(tmp_path):
    style = ('arguments = ["x", "y", "rows", "cols"]', 'arguments = ["x", "rows", "cols"]\nstyle = "functional"')
    assert _found(write_pack(tmp_path, TASK, style)) == []
    assert _found(write_pack(tmp_path, TASK, ("[task.candidate]", 'style = "functional"\n\n[task.candidate]'))) == ['P076 "y"']
    # The candidate's style differs, and it has the baseline's arguments.
    assert _found(write_pack(tmp_path, TASK, style, ("[task.candidate]", '[task.candidate]\nstyle = "destination"'))) == ["P076 [task.candidate]"]


def test_a_candidate_in_another_language_needs_an_entry_of_its_own(tmp_path):
    torch = [('language = "cpp"\nfiles = ["kernel.cpp"]\nentry = "scale_{T}"', 'language = "torch"\nfiles = ["baseline.py"]\nentry = "scale"')]
    hip = ("[task.candidate]\n", '[task.candidate]\nlanguage = "hip"\n')
    files = {"baseline.py": "def scale(x, y, rows, cols): ...\n"}
    assert _found(write_pack(tmp_path, TASK, *torch, hip, **files)) == ["P074 [task.candidate]"]
    named = ("[task.candidate]\n", '[task.candidate]\nlanguage = "hip"\nentry = "scale_{T}"\n')
    assert _found(write_pack(tmp_path, TASK, *torch, named, **files)) == []
    assert _found(write_pack(tmp_path, TASK, *torch, named, **{"baseline.py": "def other(): ...\n"})) == ['P043 "scale"']


def test_examples(tmp_path):
    example = '[[task.example]]\nname = "a"\nfolder = "a"\nsummary = "s"\n\n'
    folder = write_pack(tmp_path, TASK, ("[op]\n", f"{example}{example}[op]\n"))
    (folder / "a").mkdir()
    assert _found(folder) == ['P078 "a"', 'P020 "a"', 'P078 "a"']
    (folder / "a" / "kernel.cpp").touch()
    assert _found(folder) == ['P020 "a"']


def test_a_dependency_is_checked_even_if_nothing_uses_it(tmp_path):
    folder = write_pack(tmp_path, OP, ("[op]\n", '[pack.dependencies]\n"ops/nowhere" = "^1"\n\n[op]\n'))
    assert _found(folder) == ['P080 "ops/nowhere"']
