"""Rules as a pack says them: their vocabulary, and what is left of them for the runtime."""

import typing

from taskpack.packs.knowledge import Rule, Scope
from taskpack.packs.rules import applies_to, vocabulary
from taskpack.packs.target import LIMITS, Target
from taskpack.runtime.facts.find import PROVIDERS
from taskpack.runtime.facts.vocabulary import SUBJECTS

GPU = Target(vendor="intel", device="xpu", architecture="bmg-g31")


def test_what_rules_can_be_about_is_what_can_be_seen() -> None:
    assert typing.get_args(Rule.model_fields["about"].annotation) == tuple(SUBJECTS)
    assert {language for about in SUBJECTS.values() for language in about.languages} == set(PROVIDERS)


def test_facts_of_the_device_and_of_code_have_different_names() -> None:
    limits = {name.replace("-", "_") for name in LIMITS}
    for name, about in SUBJECTS.items():
        assert not limits & set(about.facts)
        assert limits | set(about.facts) <= set(vocabulary(name))


def test_scopes() -> None:
    assert applies_to(Scope(languages=("triton",)), GPU)
    assert applies_to(Scope(languages=("triton",), vendors=("intel", "amd"), devices=("xpu",), architectures=("bmg-*",)), GPU)
    assert not applies_to(Scope(languages=("triton",), devices=("cuda",)), GPU)
    assert not applies_to(Scope(languages=("triton",), architectures=("bmg",)), GPU)
