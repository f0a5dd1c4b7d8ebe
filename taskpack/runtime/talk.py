"""What a run says while it goes on and at its end: lines for people, events for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from .evidence import FAIL, INCONCLUSIVE, SKIP, CaseResult, Result, TimingResult

_MOST_CASES = 12


def events_to(descriptor: int) -> Callable[..., None]:
    """JSON lines on a descriptor."""

    def note(event: str, **content: object) -> None:
        line = json.dumps({"event": event, **content}, ensure_ascii=False).encode() + b"\n"
        while line:
            line = line[os.write(descriptor, line) :]

    return note


def lines_to(say: Callable[[str], None]) -> Callable[..., None]:
    """A line a gate, as it ends."""

    def note(event: str, **content: object) -> None:
        if event == "note":
            say(f"  {content['text']} …")
        elif event == "gate":
            say(f"{content['gate']:8} {content['verdict']:12} {content['seconds']:6.1f} s  {content['reason']}".rstrip())

    return note


def ending(result: Result) -> list[str]:
    """The cases that were not passed, the timings, and one line that sums up."""
    lines = [*_finding_lines(result), *_case_lines(result.cases), *(_timing_line(timing) for timing in result.timing)]
    header = result.header
    if result.testimony.get("log"):
        lines += ["", *result.testimony["log"].rstrip().splitlines()[:20], ""]
    words = ", ".join(f"{gate.gate} {gate.verdict}" for gate in result.gates)
    speedup = f", {result.speedup['geomean']:.2f}x ({result.speedup['low']:.2f}–{result.speedup['high']:.2f})" if result.speedup else ""
    return [*lines, f"{header['task']} {header['version']} on {header['target']} ({header['execution']}): {words}{speedup}"]


def weak_lines(found: Mapping[str, Any]) -> list[str]:
    """Of a probe: the wrong answers that no case refuses, and one line that sums up."""
    lines = [f"  weak     {one['mutant']} of {one['output']}: {one['advice']}" for one in found["weak"]]
    judged = sum(one["judged"] for one in found["mutants"])
    verdict = f"{len(lines)} wrong answers pass" if lines else "every wrong answer is refused"
    return [*lines, f"{found['task']} {found['version']} on {found['target']}: {verdict} ({judged} judged in {found['cases']} cases)"]


def _finding_lines(result: Result) -> list[str]:
    return [f"  rules    {one['file']}:{one['line']} {one['level']}: {one['rule']}: {one['message']}" for one in (result.findings or ())[:_MOST_CASES]]


def _case_lines(cases: tuple[CaseResult, ...]) -> list[str]:
    shown = [case for case in cases if case.verdict in (FAIL, SKIP, INCONCLUSIVE)]
    lines = [f"  {case.gate:8} {case.case:16} {case.distribution:14} {case.verdict:5} {case.reason}" for case in shown[:_MOST_CASES]]
    return [*lines, f"  … and {len(shown) - _MOST_CASES} more"] if len(shown) > _MOST_CASES else lines


def _timing_line(timing: TimingResult) -> str:
    measured = timing.measured
    if measured["speedup"] is None:
        return f"  {timing.case:16} {measured['verdict']:12} {measured['reason']}"
    times = f"{measured['baseline_us']:10.2f} µs → {measured['candidate_us']:10.2f} µs"
    scored = " (unseen, not scored)" if timing.is_unseen else ""
    other = f"; {other_launch(measured['other'])}" if measured.get("other") else ""
    return f"  {timing.case:16} {times}  {measured['speedup']:.2f}x ({measured['low']:.2f}–{measured['high']:.2f}){scored}{other}"


def other_launch(other: Mapping[str, Any]) -> str:
    """The time that is reported beside the scored one, in words."""
    kind = "host" if other["launch"] == "call" else "device"
    return f"{kind} {other['baseline_us']:.2f} µs → {other['candidate_us']:.2f} µs" if other["speedup"] is not None else f"{kind}: {other['verdict']}"
