"""Reports as text: golden pages of real results, and what must hold of any."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from taskpack.reports.text import in_order, render_result, render_summary

RESULTS = sorted(Path(__file__).parent.glob("results/*.json"))


def _read(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((Path(__file__).parent / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return result


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_pages(path: Path, golden: Any) -> None:
    assert render_result(json.loads(path.read_text(encoding="utf-8"))) == golden(f"reports/{path.stem}.txt")


def test_the_summary_of_several(golden: Any) -> None:
    results = [*(json.loads(path.read_text(encoding="utf-8")) for path in RESULTS), ("local/broken", "3 errors in pack.toml")]
    assert render_summary(results) == golden("reports/summary.txt")


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_colour_changes_nothing_else(path: Path) -> None:
    result = json.loads(path.read_text(encoding="utf-8"))
    coloured = render_result(result, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_result(result)


def test_a_stranger_cannot_steer_the_terminal() -> None:
    result = _read("does-not-compile")
    result["testimony"]["log"] = "\x1b]0;owned\x07\x1b[2J harmless\r words"
    result["gates"][0]["reason"] = "\x1b[2Jcleared"
    assert "\x1b" not in render_result(result)
    assert "harmless" in render_result(result)


def test_long_lists_are_cut() -> None:
    result = _read("wrong-on-unseen")
    failed = next(case for case in result["cases"] if case["verdict"] == "fail")
    result["cases"] += [failed | {"reason": f"reason {number}"} for number in range(40)]
    assert re.search(r"^… and \d+ more$", render_result(result), re.MULTILINE)
    result["cases"] = [failed] + [failed | {"reason": "the same"}] * 40
    assert "and 39 more" in render_result(result)
    result["testimony"]["log"] = "line\n" * 100
    assert "… and 76 more lines" in render_result(result)


@pytest.mark.parametrize(("time", "text"), [(0.5, "0.50 µs"), (12.34, "12.3 µs"), (345.6, "346 µs"), (12_345.0, "12.3 ms"), (1_234_567.0, "1235 ms")])
def test_times(time: float, text: str) -> None:
    result = _read("passed")
    result["timing"][0]["baseline_us"] = time
    assert text in render_result(result)


def test_a_narrow_terminal_wraps_reasons_under_themselves() -> None:
    lines = render_result(_read("does-not-compile"), width=72).splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("compile "))
    assert lines[first + 1].startswith(" " * lines[first].index("kernel.cpp"))


def test_gates_stand_in_the_order_in_which_results_go_through_them() -> None:
    orders = [("compile", "correct", "fast"), ("compile", "interface", "state-dict", "correct", "fast"), ("compile", "rules", "correct", "general", "fast")]
    results = [{"gates": [{"gate": gate} for gate in order]} for order in orders]
    gates = in_order([entry["gate"] for entry in result["gates"]] for result in results)
    assert all(tuple(gate for gate in gates if gate in order) == order for order in orders)
    assert len(gates) == len(set(gates))
