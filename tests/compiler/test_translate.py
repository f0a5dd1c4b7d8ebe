"""Each form of an op's words, and the Python that it becomes."""

import ast
from typing import Any

import pytest

from taskpack.compiler.translate import translate_op
from taskpack.packs.op import Op
from taskpack.packs.salvage import frozen


def _op(**more: Any) -> Op:
    words = {
        "reference": "reference.py:f",
        "dims": {"n": "", "m": ""},
        "dtypes": {"T": ["float32"]},
        "output": [{"name": "y", "shape": ["n"], "dtype": "T"}],
        **more,
    }
    return Op.model_validate(frozen(words))


INITS = {
    "normal = {}": ({"normal": {}}, '{"normal": {"mean": 0, "std": 1}}'),
    "normal": ({"normal": {"mean": 0.5, "std": 2.0}}, '{"normal": {"mean": 0.5, "std": 2}}'),
    "uniform": ({"uniform": {"low": -1}}, '{"uniform": {"low": -1, "high": 1}}'),
    "constant": ({"constant": {"value": 1e300}}, '{"constant": {"value": 1e+300}}'),
    "partition": ({"partition": {"of": "n * 2"}}, '{"partition": {"of": n * 2}}'),
    "index": ({"index": {"below": 7}}, '{"index": {"below": 7}}'),
    "unique-index": ({"unique-index": {"below": "max(n, m)"}}, '{"unique-index": {"below": max_(n, m)}}'),
    "permutation": ({"permutation": {}}, '{"permutation": {}}'),
    "sorted": ({"sorted": {"high": 0.25}}, '{"sorted": {"low": 0, "high": 0.25}}'),
    "routing": ({"routing": {"experts": "m"}}, '{"routing": {"experts": m, "skew": 1}}'),
    "mask": ({"mask": {}}, '{"mask": {"density": 0.5}}'),
    "paged": ({"paged": {"pages": "ceil_div(n, 16)"}}, '{"paged": {"pages": ceil_div(n, 16)}}'),
    "csr": ({"csr": {"columns": "m", "indptr": "p"}}, '{"csr": {"columns": m, "indptr": "p"}}'),
    "derive": ({"derive": {"expression": "p + 1"}}, '{"derive": {}}'),
    "file": ({"file": {"path": "data/x.bin"}}, '{"file": {"path": "data/x.bin"}}'),
    "generator": ({"generator": True}, '{"generator": {}}'),
}


@pytest.mark.parametrize("name", INITS)
def test_inits(name: str) -> None:
    init, python = INITS[name]
    first = {"name": "p", "shape": ["n"], "dtype": "int32", "init": {"partition": {"of": "m"}}}
    program = translate_op(_op(input=[first, {"name": "x", "shape": ["n"], "dtype": "T", "init": init}]))
    assert program.inits["x"] == python
    ast.parse(python)
    assert program.derived == ({"x": "p + 1"} if name == "derive" else {})
    assert set(program.imports) == {function for function in ("max_", "ceil_div") if function in python}


def test_shapes() -> None:
    outputs = [{"name": name, "shape": shape, "dtype": "T"} for name, shape in {"a": [], "b": [3], "c": ["n"], "d": ["n", 2, "round_up(m, 8)"]}.items()]
    program = translate_op(_op(output=outputs))
    assert program.shapes == {"a": "()", "b": "(3,)", "c": "(n,)", "d": "(n, 2, round_up(m, 8))"}
    assert program.imports == ("round_up",)


def test_reductions_are_the_outputs_own_or_the_ops_or_none() -> None:
    outputs = [{"name": name, "shape": ["n"], "dtype": "T"} for name in ("y", "z")]
    assert translate_op(_op(output=outputs)).reductions == {}
    assert translate_op(_op(output=outputs, tolerance={"reduction": "n"})).reductions == {"y": "n", "z": "n"}
    own = {"reduction": "n", "output": {"z": {"reduction": "m * 2"}}}
    assert translate_op(_op(output=outputs, tolerance=own)).reductions == {"y": "n", "z": "m * 2"}


def test_conditions_keep_their_authors_words() -> None:
    program = translate_op(_op(constraints=["n>0   and m % 2==0"]))
    assert [(check.source, check.python) for check in program.constraints] == [("n>0   and m % 2==0", "n > 0 and m % 2 == 0")]
