"""Two runs, unit by unit: what differs, and what of that is noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taskpack.runs.folder import Unit

Json = dict[str, Any]
Name = tuple[str, int, str]

SAME, NOISE, FASTER, SLOWER, VERDICT, UNDECIDED, OTHER_TASK, ONLY_FIRST, ONLY_SECOND = (
    "same",
    "noise",
    "faster",
    "slower",
    "verdict",
    "undecided",
    "other-task",
    "only-in-first",
    "only-in-second",
)
"""Verdicts alike, nothing timed; the intervals of the speedups overlap; they do not, the second is the faster or the slower one; a gate says something else;
a speedup on one side only, as the clock could not decide on the other; the task's meaning is another, so nothing can be compared; not in both."""


def compare_units(first: Mapping[str, Unit], second: Mapping[str, Unit]) -> Json:
    """The comparison for machines: units paired by task, attempt and target, each with its `difference`, and how often each difference occurs."""
    sides = (_by_name(first), _by_name(second))
    names = list(dict.fromkeys((*sides[0], *sides[1])))
    pairs = [_pair(name, sides[0].get(name), sides[1].get(name)) for name in names]
    found = [pair["difference"] for pair in pairs]
    return {"format": 1, "kind": "comparison", "pairs": pairs, "counts": {difference: found.count(difference) for difference in dict.fromkeys(found)}}


def _by_name(units: Mapping[str, Unit]) -> dict[Name, Unit]:
    return {(unit.result["task"], unit.key["attempt"], unit.key["target"]): unit for unit in units.values()}


def _pair(name: Name, first: Unit | None, second: Unit | None) -> Json:
    task, attempt, target = name
    pair: Json = {"task": task, "attempt": attempt, "target": target}
    if first is None or second is None:
        return {**pair, "difference": ONLY_SECOND if first is None else ONLY_FIRST}
    results = (first.result, second.result)
    pair["speedups"] = [result["speedup"] for result in results]
    pair["scores"] = [unit.score["value"] if unit.score else None for unit in (first, second)]
    pair["verdicts"] = _changed(_verdicts(first), _verdicts(second))
    pair["same_candidate"] = first.key["candidate"] == second.key["candidate"]
    pair["same_harness"] = first.key["harness"] == second.key["harness"]
    pair["difference"] = OTHER_TASK if results[0]["digests"]["task"] != results[1]["digests"]["task"] else _difference(pair)
    return pair


def _verdicts(unit: Unit) -> dict[str, str]:
    return {gate["gate"]: gate["verdict"] for gate in unit.result["gates"]}


def _changed(first: dict[str, str], second: dict[str, str]) -> dict[str, list[str]]:
    gates = dict.fromkeys((*first, *second))
    return {gate: [first.get(gate, ""), second.get(gate, "")] for gate in gates if first.get(gate) != second.get(gate)}


def _difference(pair: Json) -> str:
    """`fast` follows from the interval, so where both sides have one, the intervals decide and not its verdict."""
    first, second = pair["speedups"]
    if any(gate != "fast" for gate in pair["verdicts"]):
        return VERDICT
    if first and second:
        if second["low"] > first["high"]:
            return FASTER
        return SLOWER if second["high"] < first["low"] else NOISE
    changed = pair["verdicts"].get("fast")
    if changed is None:
        return SAME
    return UNDECIDED if "inconclusive" in changed else VERDICT
