"""The rules that ship: fresh as data, sourced, and at peace with the code that ships."""

from pathlib import Path

import pytest
import tomli

from taskpack.knowledge.lint import LANGUAGES, lint_file
from taskpack.knowledge.rulebook import open_rulebook
from taskpack.packs.rulebook import FILE, write_rules
from taskpack.packs.rules import DEVICE
from taskpack.packs.shelf import open_shelf
from taskpack.resources import shipped_packs
from taskpack.runtime.rules import render

TARGETS = ["targets/arc-b70", "targets/cpu", "targets/h200", "targets/mi300x"]
CODE = sorted(p for p in (shipped_packs() / "arena").rglob("*") if p.suffix in LANGUAGES and ".taskpack" not in p.parts)
RULES = [
    (pack.parent.name, rule)
    for pack in sorted((shipped_packs() / "knowledge").glob("*/pack.toml"))
    for rule in tomli.loads(pack.read_text(encoding="utf-8"))["knowledge"]["rule"]
]


def test_the_file_is_what_the_packs_say(tmp_path: Path) -> None:
    write_rules(tmp_path / FILE)
    assert (shipped_packs() / "knowledge" / FILE).read_bytes() == (tmp_path / FILE).read_bytes(), "run `make generate`"


def test_there_are_a_dozen_rules_about_xe_alone() -> None:
    assert sum(pack == "xe" for pack, _ in RULES) >= 12
    assert {rule["rule"].partition("/")[0] for rule in open_rulebook("targets/arc-b70", open_shelf()).rules} == {"triton", "xe"}
    assert {rule["rule"].partition("/")[0] for rule in open_rulebook("targets/cpu", open_shelf()).rules} == {"hip", "triton"}


@pytest.mark.parametrize("target", TARGETS)
def test_what_ships_breaks_no_rule(target: str) -> None:
    """Code that was judged faster on one device may lack room on another; it is wrong on none."""
    rulebook = open_rulebook(target, open_shelf())
    warned = set()
    for path in CODE:
        report = lint_file(path, rulebook, {"largest_tensor_elements": 1 << 28, "largest_element_bytes": 4})
        assert not report.of("error"), path
        warned |= {(path.parent.name, finding.rule) for finding in report.of("warning")}
    assert {each for each in warned if each[1].startswith("triton/")} == {("one-reading", "triton/missing-mask")}, "whole blocks of a row need no mask"


@pytest.mark.parametrize(("pack", "rule"), RULES, ids=[f"{pack}/{rule['id']}" for pack, rule in RULES])
def test_prose_is_short_and_complete_for_its_targets(pack: str, rule: dict[str, str]) -> None:
    facts = open_rulebook("targets/arc-b70", open_shelf()).facts
    prose = render(rule["prose"], facts)
    assert len(prose) <= 200
    assert "?" not in prose
    assert set(facts) <= set(DEVICE)


def test_a_target_from_elsewhere_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "local" / "gpu"
    folder.mkdir(parents=True)
    text = (shipped_packs() / "targets" / "arc-b70" / "pack.toml").read_text(encoding="utf-8")
    (folder / "pack.toml").write_text(text.replace('"targets/arc-b70"', '"local/gpu"').replace("value = 64, unit", "value = 8, unit", 1), encoding="utf-8")
    rulebook = open_rulebook("local/gpu", open_shelf([tmp_path]))
    assert rulebook.rules == open_rulebook("targets/arc-b70", open_shelf()).rules
    assert rulebook.facts["max_warps_per_block"] == 8
