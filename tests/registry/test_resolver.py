"""Versions that go together: the highest that all who ask will have, or both askers named."""

from collections.abc import Callable, Sequence

import pytest

from taskpack.errors import Conflict, NotFound
from taskpack.registry.event import Release
from taskpack.registry.resolver import Need, Pin, resolve


def _offers(table: dict[str, dict[str, dict[str, str]]]) -> Callable[[str], Sequence[Pin]]:
    """Name → version → dependencies."""

    def offers(name: str) -> Sequence[Pin]:
        if name not in table:
            raise NotFound(name)
        return [Pin(name, "x", Release(version, "op", "", "", "", "", 0, needs)) for version, needs in table[name].items()]

    return offers


def _resolved(table: dict[str, dict[str, dict[str, str]]], *asked: tuple[str, str]) -> dict[str, str]:
    pins = resolve([Need(name, requirement, "you") for name, requirement in asked], _offers(table))
    return {name: pin.release.version for name, pin in pins.items()}


def test_the_highest_compatible() -> None:
    table = {"a/a": {"1.0.0": {}, "1.10.0": {}, "1.9.0": {}, "2.0.0": {}, "1.11.0-rc.1": {}}}
    assert _resolved(table, ("a/a", "^1.0")) == {"a/a": "1.10.0"}
    assert _resolved(table, ("a/a", "1.9.0")) == {"a/a": "1.9.0"}
    assert _resolved(table, ("a/a", "*")) == {"a/a": "2.0.0"}
    assert _resolved(table, ("a/a", "^1.11.0-rc.1")) == {"a/a": "1.11.0-rc.1"}


def test_a_choice_that_was_too_high_is_made_anew() -> None:
    table = {
        "a/a": {"1.0.0": {"c/c": "^1.0", "b/b": "*"}},
        "b/b": {"1.0.0": {"c/c": "=1.2.0"}},
        "c/c": {"1.2.0": {}, "1.9.0": {"d/d": "*"}},
        "d/d": {"1.0.0": {}},
    }
    assert _resolved(table, ("a/a", "*")) == {"a/a": "1.0.0", "b/b": "1.0.0", "c/c": "1.2.0"}


def test_both_askers_are_named() -> None:
    table = {"a/a": {"1.0.0": {"c/c": "^1.0"}}, "b/b": {"1.0.0": {"c/c": "^2.0"}}, "c/c": {"1.2.0": {}, "2.0.0": {}}}
    with pytest.raises(Conflict, match=r"a/a 1.0.0 asks for `\^1.0` and b/b 1.0.0 asks for `\^2.0`") as caught:
        _resolved(table, ("a/a", "*"), ("b/b", "*"))
    assert caught.value.hint == "there are: 1.2.0, 2.0.0"


def test_cycles_and_long_chains_end() -> None:
    assert _resolved({"a/a": {"1.0.0": {"b/b": "*"}}, "b/b": {"1.0.0": {"a/a": "^1.0"}}}, ("a/a", "*")) == {"a/a": "1.0.0", "b/b": "1.0.0"}
    chain = {f"a/n{number}": {"1.0.0": {f"a/n{number + 1}": "^1.0"}} for number in range(10_000)} | {"a/n10000": {"1.0.0": {}}}
    assert len(_resolved(chain, ("a/n0", "*"))) == 10_001


def test_what_is_not_there() -> None:
    with pytest.raises(NotFound):
        _resolved({"a/a": {"1.0.0": {"b/b": "*"}}}, ("a/a", "*"))
