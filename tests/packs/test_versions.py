"""Versions and requirements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.packs.versions import parse_requirement, parse_version


def test_order_of_semantic_versioning():
    # The example of semver.org, clause 11.
    ordered = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0 1.10.0 2.0.0"
    assert [str(version) for version in sorted(map(parse_version, ordered.split()[::-1]))] == ordered.split()


@pytest.mark.parametrize("text", ["1", "1.0", "v1.0.0", "01.0.0", "1.0.0+build", "1.0.0-", " 1.0.0", "1.0.0\n", "", "1.0.0-a..b", "1" * 200 + ".0.0"])
def test_no_versions(text):
    with pytest.raises(ValueError, match="MAJOR"):
        parse_version(text)


@pytest.mark.parametrize(
    ("requirement", "allowed", "refused"),
    [
        ("*", "0.0.1 3.0.0", "1.0.0-rc.1"),
        ("^1.2", "1.2.0 1.9.3", "1.1.9 2.0.0 2.0.0-rc.1 1.3.0-rc.1"),
        ("^1", "1.0.0 1.9.9", "0.9.9 2.0.0"),
        ("^0.2.1", "0.2.1 0.2.9", "0.2.0 0.3.0"),
        ("^0.0.3", "0.0.3", "0.0.4 0.0.2"),
        ("^0.0", "0.0.0 0.0.9", "0.1.0"),
        ("~1.2", "1.2.0 1.2.9", "1.3.0 1.1.9"),
        ("~1", "1.0.0 1.9.0", "2.0.0"),
        ("1.2", "1.2.0 1.2.7", "1.3.0"),
        ("=1.2.3", "1.2.3", "1.2.4"),
        ("1.2.3", "1.2.3", "1.2.4"),
        (">=1.0, <1.4", "1.0.0 1.3.9", "1.4.0 0.9.0"),
        (">1.0.0", "1.0.1", "1.0.0"),
        ("<=2.0.0", "2.0.0 1.0.0", "2.0.1"),
        ("^1.0.0-rc.1", "1.0.0-rc.2 1.0.0 1.4.0", "1.0.0-beta 1.4.0-rc.1"),
    ],
)
def test_requirements(requirement, allowed, refused):
    parsed = parse_requirement(requirement)
    assert [text for text in allowed.split() if not parsed.allows(parse_version(text))] == []
    assert [text for text in refused.split() if parsed.allows(parse_version(text))] == []


@pytest.mark.parametrize("text", ["", "latest", "^", "1.x", ">=1.0 <2", "^1.0,", "~>1.0"])
def test_no_requirements(text):
    with pytest.raises(ValueError, match="requirement"):
        parse_requirement(text)


_versions = st.builds(lambda a, b, c: f"{a}.{b}.{c}", *[st.integers(0, 20)] * 3)


@given(_versions)
def test_a_version_is_compatible_with_itself(text):
    for operator in ("^", "~", "=", ">=", "<=", ""):
        assert parse_requirement(operator + text).allows(parse_version(text))
    assert str(parse_version(text)) == text
