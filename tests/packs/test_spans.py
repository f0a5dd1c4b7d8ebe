"""Places in a TOML text: every key and value is found, whatever its spelling."""

import string

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from taskpack.packs.spans import find_spans, line_and_column, offsets_in_string

TRICKY = '''# a comment with = and [brackets]
format = 1
a.b . "c d".e = 'dotted'
[pack]   # after a header
name = "x#y" # "z"
"quoted \\"key\\"" = 1
'lit.eral' = 2
[[op.input]]
name = "é–ü"
shape = [
  1, # one
  "a]b", [ 2, 3 ],
  { k = 1, m.n = "}" },
]
[op.input.init]
normal = { std = 3.0, mean = -1_000 }
[[op.input]]
text = """
first \\
   second " "" \\"""
"""
raw = \'\'\'a\\'\'\'\'
[op.dims]
when = 1979-05-27T07:32:00Z
last=+1e6'''


def _value(text, span):
    return text[span.start : span.end]


def _key(text, span):
    return text[span.key_start : span.key_end]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_tricky_spellings(ending):
    text = TRICKY.replace("\n", ending)
    spans = find_spans(text)
    assert _value(text, spans["format",]) == "1"
    assert _key(text, spans["a", "b", "c d"]) == '"c d"'
    assert (_key(text, spans["a", "b", "c d", "e"]), _value(text, spans["a", "b", "c d", "e"])) == ("e", "'dotted'")
    assert _value(text, spans["pack",]) == "[pack]"
    assert _value(text, spans["pack", "name"]) == '"x#y"'
    assert _value(text, spans["pack", 'quoted "key"']) == "1"
    assert _value(text, spans["pack", "lit.eral"]) == "2"
    assert _value(text, spans["op", "input", 0]) == "[[op.input]]"
    assert _value(text, spans["op", "input", 0, "name"]) == '"é–ü"'
    assert _value(text, spans["op", "input", 0, "shape", 1]) == '"a]b"'
    assert _value(text, spans["op", "input", 0, "shape", 2, 1]) == "3"
    assert _value(text, spans["op", "input", 0, "shape", 3, "m", "n"]) == '"}"'
    assert _value(text, spans["op", "input", 0, "init", "normal", "mean"]) == "-1_000"
    assert _value(text, spans["op", "input", 1, "text"]).endswith('"""')
    assert _value(text, spans["op", "input", 1, "raw"]) == "'''a\\''''"
    assert _value(text, spans["op", "dims", "when"]) == "1979-05-27T07:32:00Z"
    assert _value(text, spans["op", "dims", "last"]) == "+1e6"


def test_lines_and_columns_count_characters():
    text = 'a = 1\nb = "é–" # ü\n'
    span = find_spans(text)["b",]
    assert line_and_column(text, span.start) == (2, 5)
    assert line_and_column(text, 0) == (1, 1)
    assert line_and_column(text, len(text)) == (3, 1)


@pytest.mark.parametrize(
    "spelled",
    [
        '"plain"',
        "'lit\\eral'",
        '"tab\\t quote\\" back\\\\ \\u00e9 \\U0001F600 end"',
        '"""\nlines\n  and \\\n     more \\" "" quotes\n"""',
        "'''\nraw \\ 'quoted'\n'''",
        '""',
        '""""two" quotes"""',
        '"""one\\\n\n\n   line"""',
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_characters_of_a_string_are_where_they_are_spelled(spelled, ending):
    text = f"k = {spelled}".replace("\n", ending)
    value = tomli.loads(text)["k"]
    offsets = offsets_in_string(text, find_spans(text)["k",])
    assert len(offsets) == len(value) + 1
    assert offsets == sorted(set(offsets))
    for character, offset in zip(value, offsets, strict=False):
        assert text[offset] in (character, "\\", "\r")


# A law: what stands at a value's place, read by itself, is that value.

_keys = st.one_of(st.text(string.ascii_lowercase + "-_", min_size=1, max_size=5), st.text("ab .\"'\\#=[]é", max_size=4))
_leaves = st.one_of(st.integers(-(2**60), 2**60), st.booleans(), st.floats(allow_nan=False), st.text("ab\"'\\\n\t\r#]}=,é😀", max_size=8))
_inline = st.recursive(_leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3), max_leaves=6)
_tables = st.recursive(
    st.dictionaries(_keys, _inline, max_size=3),
    lambda inner: st.dictionaries(_keys, inner | st.lists(inner, min_size=1, max_size=3) | _inline, max_size=3),
    max_leaves=6,
)


def _spelled_key(key, draw):
    if key and all(character in string.ascii_lowercase + "-_" for character in key) and draw(st.booleans()):
        return key
    return _spelled_string(key)


def _spelled_string(text):
    escaped = "".join({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, character) for character in text)
    return f'"{escaped}"'


def _spelled_value(value, draw):
    blank = draw(st.sampled_from(["", " ", "\t"]))
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return {"inf": "inf", "-inf": "-inf"}.get(repr(value), repr(value))
        case str():
            if "'" not in value and "\r" not in value and draw(st.booleans()):
                return f"'''\n{value}'''"
            return _spelled_string(value)
        case list():
            between = draw(st.sampled_from([",", ", ", ",\n  # a ] comment\n"]))
            return f"[{blank}{between.join(_spelled_value(item, draw) for item in value)}{blank}]"
        case dict():
            return "{" + blank + ", ".join(f"{_spelled_key(key, draw)}{blank}={blank}{_spelled_value(item, draw)}" for key, item in value.items()) + blank + "}"


def _spelled_table(table, header, draw):
    lines, below = [], []
    for key, value in table.items():
        spelled = _spelled_key(key, draw)
        is_rows = isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
        if isinstance(value, dict) and draw(st.booleans()):
            below += [f"[{'.'.join([*header, spelled])}]", *_spelled_table(value, [*header, spelled], draw)]
        elif is_rows and draw(st.booleans()):
            for item in value:
                below += [f"[[ {'.'.join([*header, spelled])} ]] # row", *_spelled_table(item, [*header, spelled], draw)]
        else:
            lines.append(f"{spelled} = {_spelled_value(value, draw)}{draw(st.sampled_from(['', ' # [comment]']))}")
    return [*lines, *below]


def _paths(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*path, index))


@given(_tables, st.sampled_from(["\n", "\r\n"]), st.data())
def test_every_value_stands_at_its_place(document, ending, data):
    text = "\n".join(_spelled_table(document, [], data.draw)).replace("\n", ending)
    parsed = tomli.loads(text)
    spans = find_spans(text)
    assert set(spans) == {path for path, _ in _paths(parsed)}
    for path, value in _paths(parsed):
        if not isinstance(value, dict | list):
            assert tomli.loads(f"k = {_value(text, spans[path])}") == {"k": value}
