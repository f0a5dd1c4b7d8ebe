"""The expression language: types, places of errors, and that Python and `evaluate` agree."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.packs.expressions import UNKNOWN, ExpressionError, parse
from taskpack.runtime import expressions as runtime

NAMES = {"rows": "int", "cols": "int", "causal": "bool", "T": "dtype", "eps": "float", "offsets": "tensor", "lost": "any"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("rows", "int"),
        ("rows // 2 * cols % 3", "int"),
        ("rows / 2", "float"),
        ("rows * eps", "float"),
        ("rows ** 2", "int"),
        ("sizeof(T) * 2", "int"),
        ("sizeof('float16')", "int"),
        ("T == 'float16'", "bool"),
        ("0 < rows <= cols", "bool"),
        ("causal and not rows > 3", "bool"),
        ("1 if causal else 0.5", "float"),
        ("min(rows, cols, 3)", "int"),
        ("max(rows, eps)", "float"),
        ("last(offsets) == rows", "bool"),
        ("offsets * 2 + 1", "tensor"),
        ("offsets < rows", "tensor"),
        ("count(offsets < rows)", "int"),
        ("abs(-rows)", "int"),
        ("abs(offsets)", "tensor"),
        ("sqrt(rows)", "float"),
        ("is_power_of_2(cols) or cols == 0", "bool"),
        ("ceil_div(rows, 32)", "int"),
        ("lost + 1", "any"),
        ("lost and causal", "bool"),
        ("\n  rows\n  * cols\n", "int"),
    ],
)
def test_types(text, kind):
    assert parse(text, NAMES).type == kind


@pytest.mark.parametrize(
    ("text", "code", "marked", "words"),
    [
        ("rows * colz", "P031", "colz", "unknown name"),
        ("rows * Rows", "P031", "Rows", "unknown name"),
        ("cel_div(rows, 2)", "P031", "cel_div", "unknown function"),
        ("min", "P031", "min", "is a function"),
        ("rows +", "P030", "+", "too early"),
        ("rows cols", "P030", "cols", "not an expression"),
        ("rows = 3", "P030", "=", "not an expression"),
        ("rows.real", "P030", "rows.real", "attribute"),
        ("offsets[0]", "P030", "offsets[0]", "index"),
        ("rows ^ 2", "P030", "rows ^ 2", "operator"),
        ("[r for r in rows]", "P030", "[r for r in rows]", "not in the expression language"),
        ("(lambda: 1)()", "P030", "lambda: 1", "call"),
        ("rows # many", "P030", "#", "not in the expression language"),
        ("rows * 'ß'", "P030", "ß", "not in the expression language"),
        ("__import__('os')", "P031", "__import__", "unknown function"),
        ("min(a=1)", "P030", "min(a=1)", "named"),
        ("max(*offsets)", "P030", "*offsets", "not in the expression language"),
        ("1j", "P030", "1j", "literal"),
        ("1e999", "P030", "1e999", "literal"),
        ("rows and cols", "P032", "rows", "conditions"),
        ("rows * causal", "P032", "causal", "condition"),
        ("rows + 'a'", "P032", "'a'", "numbers"),
        ("T < 'float16'", "P032", "T < 'float16'", "compare"),
        ("T == 'flaot16'", "P032", "T == 'flaot16'", "compare"),
        ("rows == causal", "P032", "rows == causal", "compare"),
        ("0 < offsets < 3", "P032", "0 < offsets < 3", "chain"),
        ("offsets > 0 and causal", "P032", "offsets > 0", "conditions"),
        ("rows if causal else T", "P032", "rows if causal else T", "one side"),
        ("sizeof(rows)", "P032", "rows", "dtype"),
        ("first(rows)", "P032", "rows", "tensor"),
        ("ceil_div(rows)", "P032", "ceil_div(rows)", "two arguments"),
        ("ceil_div(rows, eps)", "P032", "eps", "whole numbers"),
        ("len()", "P032", "len()", "wants arguments"),
        ("2 ** rows", "P032", "rows", "exponent"),
        ("rows ** 65", "P032", "65", "exponent"),
        ("((rows ** 64) ** 64)", "P032", "(rows ** 64) ** 64", "astronomically"),
    ],
)
def test_errors_point_at_what_is_wrong(text, code, marked, words):
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    error = caught.value
    assert (error.code, text[error.offset : error.offset + error.length]) == (code, marked)
    assert words in error.message


@pytest.mark.parametrize("text", ["", "   ", "-" * 300 + "1", "(" * 300, "1" * 501, "9" * 400, "rows" + "+rows" * 99, "\0", "not " * 100 + "causal"])
def test_what_is_too_much_is_refused(text):
    with pytest.raises(ExpressionError):
        parse(text, NAMES)


def test_hints():
    with pytest.raises(ExpressionError) as caught:
        parse("rows * colz", NAMES)
    assert caught.value.hint == "did you mean `cols`?"
    with pytest.raises(ExpressionError) as caught:
        parse("rows * causal", NAMES)
    assert caught.value.hint == "`1 if condition else 0`"


def test_python_names_the_runtimes_functions():
    expression = parse("min(rows, cols) + ceil_div(rows, 2) + abs(rows)", NAMES)
    assert expression.functions == {"min_", "ceil_div"}
    assert expression.names == {"rows", "cols"}
    assert expression.python == "min_(rows, cols) + ceil_div(rows, 2) + abs(rows)"


def test_no_value_is_an_error_with_a_place():
    with pytest.raises(ExpressionError) as caught:
        parse("rows + 7 // cols", NAMES).evaluate({"rows": 1, "cols": 0})
    assert (caught.value.code, caught.value.offset, caught.value.length) == ("P033", 7, 9)


@pytest.mark.parametrize(
    ("text", "values", "result"),
    [
        ("rows > 1", {}, UNKNOWN),
        ("rows > 1 and cols > 1", {"cols": 0}, False),
        ("rows > 1 and cols > 1", {"cols": 2}, UNKNOWN),
        ("rows > 1 or cols > 1", {"cols": 2}, True),
        ("not rows > 1", {}, UNKNOWN),
        ("rows > 0 and 8 // cols > 1", {"cols": 0}, UNKNOWN),
        ("8 // cols > 1 if rows > 0 else causal", {"cols": 0}, UNKNOWN),
        ("1 < cols < rows", {"cols": 0}, False),
        ("last(offsets) == rows", {"rows": 3}, UNKNOWN),
        ("lost == 3", {}, UNKNOWN),
    ],
)
def test_what_is_not_known(text, values, result):
    assert parse(text, NAMES).evaluate(values) is result


def test_the_unknown_is_neither_true_nor_false():
    with pytest.raises(TypeError):
        bool(UNKNOWN)


# Laws, over random expressions.

_numbers = st.deferred(
    lambda: st.one_of(
        st.integers(-9, 99).map(str),
        st.sampled_from(["rows", "cols", "sizeof(T)", "eps", "2.5"]),
        st.tuples(_numbers, st.sampled_from(["+", "-", "*", "//", "%", "/"]), _numbers).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        _numbers.map(lambda t: f"(-{t})"),
        _numbers.map(lambda t: f"abs({t})"),
        _numbers.map(lambda t: f"({t}) ** 2"),
        st.tuples(_numbers, _numbers).map(lambda t: f"max({t[0]}, {t[1]})"),
        st.tuples(_conditions, _numbers, _numbers).map(lambda t: f"({t[1]} if {t[0]} else {t[2]})"),
        st.sampled_from(["ceil_div(rows, cols)", "round_up(rows, 8)", "sqrt(rows)", "log2(cols)", "exp(eps)"]),
    )
)
_conditions = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["causal", "True", "is_power_of_2(rows)", "T == 'float16'"]),
        st.tuples(_numbers, st.sampled_from(["<", "<=", "==", "!="]), _numbers, st.sampled_from(["<", ">="]), _numbers).map(" ".join).map("({})".format),
        st.tuples(_conditions, st.sampled_from(["and", "or"]), _conditions).map(" ".join).map("({})".format),
        _conditions.map("(not {})".format),
    )
)
_VALUES = st.fixed_dictionaries(
    {"rows": st.integers(0, 50), "cols": st.integers(0, 50), "causal": st.booleans(), "T": st.sampled_from(["float16", "float64"]), "eps": st.floats(-3, 3)}
)
_FUNCTIONS = {name: getattr(runtime, name) for name in dir(runtime) if not name.startswith("_")} | {"abs": abs}


def _outcome(compute):
    try:
        return compute()
    except (ExpressionError, ArithmeticError, ValueError):
        return "no value"


def _parsed(text):
    """None where the expression is beyond a limit."""
    try:
        return parse(text, NAMES)
    except ExpressionError as error:
        if any(word in error.message for word in ("longer", "deep", "astronomically")):
            return None
        raise


@given(st.one_of(_numbers, _conditions), _VALUES)
def test_python_and_evaluate_agree(text, values):
    if expression := _parsed(text):
        python = _outcome(lambda: eval(expression.python, dict(_FUNCTIONS), dict(values)))
        ours = _outcome(lambda: expression.evaluate(values))
        assert (ours, type(ours)) == (python, type(python)) or ours != ours


@given(st.one_of(_numbers, _conditions), _VALUES, st.sets(st.sampled_from(["rows", "cols", "causal", "T", "eps"])))
def test_knowing_less_never_changes_an_answer(text, values, hidden):
    if expression := _parsed(text):
        known = {name: value for name, value in values.items() if name not in hidden}
        less, more = _outcome(lambda: expression.evaluate(known)), _outcome(lambda: expression.evaluate(values))
        assert less is UNKNOWN or less == more or less != less


@given(st.text(alphabet="rowscl T+-*/%()<>=!,.'[]{}:#\\\n 0123456789eifandotxu", max_size=60))
def test_any_text_is_an_expression_or_an_error_inside_it(text):
    try:
        python, offset = parse(text, NAMES).python, 0
    except ExpressionError as error:
        python, offset = "", error.offset
    assert 0 <= offset <= len(text)
    ast.parse(python or "0", mode="eval")
