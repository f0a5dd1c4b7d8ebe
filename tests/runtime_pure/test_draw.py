from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.runtime.draw import DrawFailed, draw_values

NAMES = {"dims": ["rows", "cols"], "dtypes": ["T"], "flags": ["causal"], "scalars": ["eps"]}


def table(**draws: Any) -> dict[str, Any]:
    return {"id": "unseen-1", "scale": "small", "count": 8, "draws": {"rows": 3, "cols": 5, "T": "float32", "eps": 1e-5, **draws}}


def nothing(**values: Any) -> tuple[tuple[str, bool], ...]:
    return ()


def test_literals_stand_and_flags_default_to_false() -> None:
    assert draw_values(table(), NAMES, random.Random(1), nothing) == {"rows": 3, "cols": 5, "T": "float32", "causal": False, "eps": 1e-5}


def test_the_same_generator_state_gives_the_same_case() -> None:
    rules = table(rows={"choice": [1, 7, 33]}, cols={"range": [1, 900], "log": True}, eps={"range": [1e-6, 1e-3], "log": True})
    first, second = ([draw_values(rules, NAMES, rng, nothing) for _ in range(20)] for rng in (random.Random(9), random.Random(9)))
    assert first == second
    assert len({str(case) for case in first}) > 10


@given(low=st.integers(-50, 50), width=st.integers(8, 2000), step=st.sampled_from([1, 2, 4]), log=st.booleans(), seed=st.integers(0, 1000))
def test_ranges_are_inclusive_and_keep_their_multiples(low: int, width: int, step: int, log: bool, seed: int) -> None:
    low = max(low, 1) if log else low
    rule = {"range": [low, low + width], "multiple-of": step, "not-multiple-of": 3, "log": log}
    value = draw_values(table(cols=rule), NAMES, random.Random(seed), nothing)["cols"]
    assert low <= value <= low + width
    assert value % step == 0
    assert value % 3


@pytest.mark.parametrize("log", [False, True])
def test_a_range_reaches_both_ends(log: bool) -> None:
    rng = random.Random(2)
    drawn = {draw_values(table(cols={"range": [1, 6], "log": log}), NAMES, rng, nothing)["cols"] for _ in range(300)}
    assert drawn == {1, 2, 3, 4, 5, 6}


def test_constraints_hold_of_every_draw() -> None:
    rules = table(rows={"range": [1, 64]}, cols={"range": [1, 64]})
    rng = random.Random(3)
    for _ in range(50):
        case = draw_values(rules, NAMES, rng, lambda *, rows, cols, **_: (("rows < cols", rows < cols), ("cols % 2", cols % 2 == 1)))
        assert case["rows"] < case["cols"]
        assert case["cols"] % 2 == 1


def test_what_can_never_hold_is_said_with_the_constraint() -> None:
    with pytest.raises(DrawFailed, match=r"none of 1000 draws .* `cols < 0` \(1000\)"):
        draw_values(table(), NAMES, random.Random(1), lambda *, cols, **_: (("cols < 0", cols < 0),))


@pytest.mark.parametrize(
    ("rule", "message"),
    [({"range": [5, 7], "multiple-of": 8}, r"no multiple of 8 lies in \[5, 7\]"), ({"range": [8, 8], "not-multiple-of": 4}, "is a multiple of 4")],
)
def test_an_empty_range_is_said(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_values(table(cols=rule), NAMES, random.Random(1), nothing)


def test_a_missing_name_is_said() -> None:
    rules = table()
    del rules["draws"]["rows"]
    with pytest.raises(ValueError, match="gives no value for `rows`"):
        draw_values(rules, NAMES, random.Random(1), nothing)
