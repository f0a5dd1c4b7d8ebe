"""The verdicts of the gate *rules*."""

from types import SimpleNamespace
from typing import Any

import pytest

from taskpack.runtime.rules_gate import hold_to_rules

KERNEL = "@triton.jit\ndef f(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 0)\nf[(1,)](x, B=64, num_warps={})\n"


def judged(severity: str, condition: str, warps: object, language: str = "triton") -> tuple[str, str, list[str]]:
    rule = {
        "rule": "r/a",
        "severity": severity,
        "about": "configuration",
        "when": None,
        "assert": condition,
        "message": "{num_warps} warps",
        "fix": "",
        "url": "",
    }
    plan = {"candidate": {"language": language}, "rules": {"rules": [rule], "facts": {"warp_size": 32}}}
    run: Any = SimpleNamespace(question=SimpleNamespace(plan=plan), sources={"k.py": KERNEL.format(warps).encode()}, findings=[])
    verdict = hold_to_rules(run)
    return verdict.verdict, verdict.reason, [finding.level for finding in run.findings]


@pytest.mark.parametrize(
    ("severity", "condition", "warps", "expected"),
    [
        ("error", "num_warps <= 32", 8, ("pass", "", [])),
        ("error", "num_warps <= 32", 64, ("fail", "k.py:4: r/a: 64 warps", ["error"])),
        ("warning", "num_warps <= 32", 64, ("pass", "1 warning", ["warning"])),
        ("error", "num_warps <= 32", "n", ("skip", "no rule could be decided: 1 unknown", ["unknown"])),
        ("error", "registers_per_thread > 0", 8, ("skip", "no rule could be decided: 1 unknown", ["unknown"])),
    ],
)
def test_verdicts(severity: str, condition: str, warps: object, expected: tuple[str, str, list[str]]) -> None:
    assert judged(severity, condition, warps) == expected


def test_a_language_of_which_nothing_is_known_is_no_pass() -> None:
    assert judged("error", "num_warps <= 32", 64, language="torch")[0] == "skip"
