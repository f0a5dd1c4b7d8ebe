"""What rules make of facts: holds, does not, cannot be told."""

from __future__ import annotations

from typing import Any

from taskpack.packs.grammar import FUNCTIONS
from taskpack.runtime.expressions import CALLS
from taskpack.runtime.facts.subject import Subject
from taskpack.runtime.rules import apply_rules, judge_files, render

RULE = {
    "rule": "test/warps",
    "severity": "error",
    "about": "configuration",
    "when": None,
    "assert": "num_warps * warp_size <= max_threads_per_block",
    "message": "{kernel} asks for {num_warps * warp_size} threads, more than {max_threads_per_block}",
    "fix": "at most {max_threads_per_block // warp_size} warps",
    "url": "https://example.org",
}
DEVICE = {"warp_size": 32, "max_threads_per_block": 1024}


def at(line: int, **facts: Any) -> Subject:
    return Subject("configuration", "k.py", line, 1, facts)


def test_a_broken_rule_says_where_and_with_which_values() -> None:
    report = apply_rules([RULE], [at(3, kernel="f", num_warps=64), at(4, kernel="g", num_warps=8), Subject("call", "k.py", 1, 1, {})], DEVICE)
    (finding,) = report.findings
    assert (finding.file, finding.line, finding.level, finding.places) == ("k.py", 3, "error", 1)
    assert (finding.message, finding.fix) == ("f asks for 2048 threads, more than 1024", "at most 32 warps")
    assert (report.decided, report.counts()) == (2, "1 error")


def test_a_missing_fact_is_unknown_and_named_once() -> None:
    report = apply_rules([RULE], [at(3, kernel="f"), at(9, kernel="g")], DEVICE)
    (finding,) = report.findings
    assert (finding.level, finding.line, finding.places, report.decided) == ("unknown", 3, 2, 0)
    assert "`num_warps`" in finding.message


def test_when() -> None:
    limited = {**RULE, "when": 'grf_mode == "256"', "assert": "num_warps <= 32"}
    assert not apply_rules([limited], [at(1, num_warps=64, grf_mode="128")], {}).findings
    assert apply_rules([limited], [at(1, num_warps=64, grf_mode="256")], {}).findings[0].level == "error"
    assert apply_rules([limited], [at(1, num_warps=64)], {}).findings[0].level == "unknown"
    assert apply_rules([limited], [at(1, num_warps=16)], {}).decided == 1, "it holds whether it applies or not"


def test_what_has_no_value_is_unknown() -> None:
    assert apply_rules([{**RULE, "assert": "num_warps / warp_size < 1"}], [at(1, num_warps=1)], {"warp_size": 0}).findings[0].level == "unknown"


def test_an_unreadable_file_is_never_a_pass() -> None:
    report = judge_files([RULE], "triton", {"k.py": "def f(:"}, DEVICE)
    assert (report.decided, [f.level for f in report.findings]) == (0, ["unknown"])


def test_render_marks_what_is_not_known() -> None:
    assert render("{a + 1} of {b}", {"a": 1}) == "2 of ?"


def test_functions_are_those_of_the_language() -> None:
    assert set(CALLS) == set(FUNCTIONS)
