"""Numbers that may be others: which are found, what is tried, and that nothing else of a file changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.forge.tunables import find_tunables, replace_values

C = """// constexpr int kNot = 8;
#include <cstdint>
#define TILE 32
constexpr int kRows = 4;
static constexpr std::size_t kBytes{4096u};
const char* text = "constexpr int kText = 2;";
constexpr int kOdd = 12, kLarge = 8192;
constexpr float kScale = 2.0f;
template <class T> void f() { constexpr unsigned lanes = 64 / sizeof(T); }
"""
TRITON = """# größer
BLOCK = 1024
odd = 64
LIMIT = 3.0
@triton.autotune(configs=[triton.Config({"BLOCK_M": 64, "GROUP": 8}, num_warps=4, num_stages=3)], key=["n"])
@triton.jit
def k(x, n, WIDTH: tl.constexpr = 16, plain=32):
    return "é", tl.arange(0, 64)
k[(1,)](x, n, WIDTH=128, num_warps=8, n_rows=4)
"""


def names(language: str, text: str) -> list[tuple[str, int]]:
    return [(found.name, found.value) for found in find_tunables(language, {"kernel": text})]


def test_constants_of_c() -> None:
    assert names("hip", C) == names("cpp", C) == [("TILE", 32), ("kRows", 4), ("kBytes", 4096), ("lanes", 64)]


def test_numbers_of_triton() -> None:
    want = [("BLOCK", 1024), ("BLOCK_M", 64), ("GROUP", 8), ("num_warps", 4), ("num_stages", 3), ("WIDTH", 16), ("WIDTH", 128), ("num_warps", 8)]
    assert names("triton", TRITON) == want


def test_a_file_that_does_not_parse_has_none() -> None:
    assert names("triton", "def (") == []


@pytest.mark.parametrize(("language", "text"), [("cpp", C), ("triton", TRITON)])
def test_a_replacement_changes_that_number_and_nothing_else(language: str, text: str) -> None:
    files = {"kernel": text, "other": text}
    found = [tunable for tunable in find_tunables(language, files) if tunable.file == "kernel"]
    for tunable in found:
        changed = replace_values(files, [(tunable, 2 * tunable.value)])
        assert changed["other"] == text
        assert changed["kernel"] == f"{text[: tunable.start]}{2 * tunable.value}{text[tunable.end :]}"
        assert text[tunable.start : tunable.end] == str(tunable.value)
    everything = replace_values(files, [(tunable, 2 * tunable.value) for tunable in found])
    again = [tunable for tunable in find_tunables(language, everything) if tunable.file == "kernel"]
    doubled = [2 * tunable.value for tunable in found if 2 * tunable.value <= 4096 and (tunable.name != "num_stages" or 2 * tunable.value < 8)]
    assert [tunable.value for tunable in again] == doubled


def test_choices_are_neighbours_within_bounds() -> None:
    assert find_tunables("cpp", {"a": "#define N 1"})[0].choices() == (2,)
    assert find_tunables("cpp", {"a": "#define N 4096"})[0].choices() == (2048,)
    assert find_tunables("triton", {"a": "f(num_stages=3)"})[0].choices() == (4, 2)


@given(st.text(alphabet='constexpr int kA=#define 248{};"/*\n', max_size=80))
def test_any_text_can_be_searched(text: str) -> None:
    for tunable in find_tunables("cpp", {"a": text}):
        assert text[tunable.start : tunable.end] == str(tunable.value)
