"""A run's result as text for people: verdicts, failed cases, timings. Pure functions of the result's JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taskpack.runtime.talk import other_launch

Result = Mapping[str, Any]

_MOST_CASES = 3
_MOST_FINDINGS = 8
_MOST_LOG_LINES = 24
_PAINT = {"pass": "\x1b[32m", "fail": "\x1b[1;31m", "inconclusive": "\x1b[33m", "skip": "\x1b[2m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def render_result(result: Result, *, colour: bool = False, width: int = 120) -> str:
    """Everything that a person wants to know of one run; ends in a newline."""
    head = f"{result['task']} {result['version']} on {result['target']} ({result['execution']})"
    blocks = [[bold(head, colour)], _gates(result, colour, width), _findings(result, width), _other_failures(result, width), _log(result), _timings(result)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def render_summary(results: Iterable[Result | tuple[str, str]], *, colour: bool = False) -> str:
    """One line for each of several runs; a pack that could not be run is given as its name and the reason."""
    shown = list(results)
    gates = in_order([entry["gate"] for entry in result["gates"]] for result in shown if not isinstance(result, tuple)) or ["compile"]
    rows = [_summary_row(result, gates, colour) for result in shown]
    return "\n".join(align([("task", *gates, "speedup"), *rows], right=())) + "\n"


def in_order(lists: Iterable[Iterable[str]]) -> list[str]:
    """Every gate of the lists, in the order in which they stand there."""
    gates: list[str] = []
    for names in lists:
        place = 0
        for name in names:
            if name not in gates:
                gates.insert(place, name)
            place = gates.index(name) + 1
    return gates


def _summary_row(result: Result | tuple[str, str], gates: Sequence[str], colour: bool) -> tuple[str, ...]:
    if isinstance(result, tuple):
        name, reason = result
        return (name, "error", *[""] * (len(gates) - 1), reason)
    verdicts = {gate["gate"]: gate["verdict"] for gate in result["gates"]}
    return (result["task"], *(painted(verdicts.get(gate, ""), colour) for gate in gates), interval(result["speedup"], "geomean"))


def _gates(result: Result, colour: bool, width: int) -> list[str]:
    head = ("gate", "verdict", "cases", "time", "reason")
    rows = [_gate_row(result, gate, colour) for gate in result["gates"]]
    return align([head, *rows], right=(2, 3), width=width)


def _gate_row(result: Result, gate: Mapping[str, Any], colour: bool) -> tuple[str, ...]:
    time = f"{gate['seconds']:.1f} s"
    return (gate["gate"], painted(gate["verdict"], colour), _passed(result, gate["gate"]), time, harmless(gate["reason"]))


def _passed(result: Result, gate: str) -> str:
    """`7/8`: cases that passed, of those that were judged."""
    verdicts: dict[str, set[str]] = {}
    rows = (timing for timing in result["timing"] if not timing["unseen"]) if gate == "fast" else (case for case in result["cases"] if case["gate"] == gate)
    for row in rows:
        verdicts.setdefault(row["case"], set()).add(row["verdict"])
    judged = [found for found in verdicts.values() if found != {"skip"}]
    return f"{sum(found == {'pass'} for found in judged)}/{len(judged)}" if judged else ""


def _findings(result: Result, width: int) -> list[str]:
    """What rules say of the source, and what to do about it."""
    found = result.get("findings") or []
    rows = [
        (one["rule"], one["level"], f"{one['file']}:{one['line']}", harmless(f"{one['message']}; {one['fix']}" if one["fix"] else one["message"]))
        for one in found[:_MOST_FINDINGS]
    ]
    if not rows:
        return []
    lines = align([("rule", "says", "where", "what"), *rows], right=(), width=width)
    return [*lines, f"… and {len(found) - _MOST_FINDINGS} more"] if len(found) > _MOST_FINDINGS else lines


def _other_failures(result: Result, width: int) -> list[str]:
    """Failed and skipped cases besides each gate's first, which its reason names; those with the same reason together."""
    named: set[str] = set()
    alike: dict[tuple[str, str, str], list[str]] = {}
    for case in result["cases"]:
        if case["verdict"] == "pass":
            continue
        if case["verdict"] == "fail" and case["gate"] not in named:
            named.add(case["gate"])
            continue
        alike.setdefault((case["gate"], case["verdict"], harmless(case["reason"])), []).append(_worded(case))
    rows = [(gate, verdict, cases[0] + (f" and {len(cases) - 1} more" if len(cases) > 1 else ""), reason) for (gate, verdict, reason), cases in alike.items()]
    if not rows:
        return []
    lines = align([("gate", "verdict", "also", "reason"), *rows[:_MOST_CASES]], right=(), width=width)
    return [*lines, f"… and {len(rows) - _MOST_CASES} more"] if len(rows) > _MOST_CASES else lines


def _worded(case: Mapping[str, Any]) -> str:
    values = ", ".join(value if isinstance(value, str) else f"{name} {value}" for name, value in case["values"].items())
    return f"{case['case']} ({values}{'' if case['distribution'] == 'declared' else ', ' + case['distribution']})"


def _log(result: Result) -> list[str]:
    """What the compiler or the candidate itself said, where a gate failed."""
    log = result["testimony"].get("log", "").rstrip().splitlines()
    if not log or all(gate["verdict"] in ("pass", "skip") for gate in result["gates"]):
        return []
    more = [f"  … and {len(log) - _MOST_LOG_LINES} more lines"] if len(log) > _MOST_LOG_LINES else []
    return ["said by the candidate, or by its compiler:", *(f"  {harmless(line)}" for line in log[:_MOST_LOG_LINES]), *more]


def harmless(words: str) -> str:
    """Without characters that steer a terminal: the words may be a stranger's."""
    return "".join(character if character.isprintable() else " " for character in words)


def _timings(result: Result) -> list[str]:
    if not result["timing"]:
        return []
    rows = [("case", "baseline", "candidate", "speedup", "")]
    for timing in result["timing"]:
        note = "unseen, not scored" if timing["unseen"] else other_launch(timing["other"]) if timing.get("other") else ""
        if timing["speedup"] is None:
            rows.append((timing["case"], "", "", timing["verdict"], harmless(timing["reason"])))
        else:
            rows.append((timing["case"], _microseconds(timing["baseline_us"]), _microseconds(timing["candidate_us"]), interval(timing, "speedup"), note))
    if result["speedup"]:
        rows.append(("all scored", "", "", interval(result["speedup"], "geomean"), "geometric mean, 95 % interval"))
    return align(rows, right=(1, 2))


def _microseconds(time: float) -> str:
    """Three significant digits, in µs or, from ten milliseconds on, in ms."""
    if time >= 10_000:
        return f"{time / 1000:.{1 if time < 100_000 else 0}f} ms"
    return f"{time:.{2 if time < 10 else 1 if time < 100 else 0}f} µs"


def interval(numbers: Mapping[str, float] | None, middle: str) -> str:
    """`1.84x (1.79–1.90)`, or nothing where nothing was measured."""
    return f"{numbers[middle]:.2f}x ({numbers['low']:.2f}–{numbers['high']:.2f})" if numbers else ""


def bold(words: str, colour: bool) -> str:
    return f"{_BOLD}{words}{_PLAIN}" if colour else words


def painted(verdict: str, colour: bool) -> str:
    """A verdict in the colour that all reports give it."""
    return f"{_PAINT[verdict]}{verdict}{_PLAIN}" if colour and verdict in _PAINT else verdict


def align(rows: Sequence[tuple[str, ...]], *, right: tuple[int, ...], width: int = 0) -> list[str]:
    """Columns two spaces apart; with a width, the last column is wrapped below itself."""
    widths = [max(_length(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [_pad(cell, widths[column], column in right) for column, cell in enumerate(row[:-1])]
        start = "  ".join(cells) + "  "
        room = width - _length(start)
        last = textwrap.wrap(row[-1], room, break_long_words=False, break_on_hyphens=False) if room >= 20 else [row[-1]]
        lines += [(start + (last[0] if last else "")).rstrip(), *(" " * _length(start) + line for line in last[1:])]
    return lines


def _pad(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _length(cell))
    return space + cell if right else cell + space


def _length(cell: str) -> int:
    """What a terminal shows of it."""
    for paint in (*_PAINT.values(), _BOLD, _PLAIN):
        cell = cell.replace(paint, "")
    return len(cell)
