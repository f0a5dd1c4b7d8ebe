"""A run in numbers: every planned unit, finished or not, and how many of them passed what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taskpack.runs.folder import Header, Unit

from .score import Scoring, combine_scores, score_unit

Json = dict[str, Any]
NOT_JUDGED = "not judged"
_PASSED = ("compile", "correct", "general")


def summarise_run(header: Header, units: Mapping[str, Unit]) -> Json:
    """The report of a run for machines: `units` in order, `families` with counts over all units that were planned, and the `score` of a suite."""
    slots = [*header.slots, *(slot for slot in units if slot not in header.slots)]
    rows = [_row(header, slot, units.get(slot)) for slot in slots]
    scoring = Scoring(**header.options["score"]) if "score" in header.options else None
    if scoring:
        rows = [{**row, "score": row["score"] or score_unit(scoring, None)} for row in rows]
    groups = dict.fromkeys(row["family"] for row in rows)
    families = [_counts(family, [row for row in rows if row["family"] == family]) for family in groups]
    report = {"format": 1, "kind": "report", "run": header.to_dict(), "units": rows, "families": families, "all": _counts("all", rows)}
    return {**report, "score": combine_scores(scoring, [row["score"] for row in rows]) if scoring else None}


def _row(header: Header, slot: str, unit: Unit | None) -> Json:
    if unit is None:
        return _unfinished(slot)
    return _finished(slot, unit) if unit.result else _never_judged(header, slot, unit)


def _finished(slot: str, unit: Unit) -> Json:
    result = unit.result
    gates = {gate["gate"]: gate["verdict"] for gate in result["gates"]}
    return {
        "slot": slot,
        "task": result["task"],
        "attempt": unit.key["attempt"],
        "family": result["family"],
        "target": result["target"],
        "execution": result["execution"],
        "gates": gates,
        "reason": next((f"{gate['gate']}: {gate['reason']}" for gate in result["gates"] if gate["verdict"] in ("fail", "inconclusive")), ""),
        "seen": count_cases(result, "correct"),
        "unseen": count_cases(result, "general"),
        "speedup": result["speedup"],
        "score": unit.score,
        "producer": unit.producer,
    }


def _never_judged(header: Header, slot: str, unit: Unit) -> Json:
    """What was proposed before is not judged again; it passed nothing by itself."""
    reason = f"{unit.producer.get('outcome', NOT_JUDGED)}: {unit.producer.get('reason', '')}"
    return {**_unfinished(f"{slot}.{unit.key['attempt']}"), "slot": slot, "task": header.asked.get("task", slot), "reason": reason, "producer": unit.producer}


def _unfinished(slot: str) -> Json:
    """A unit that was planned and has no result: it passed nothing, and stays in every denominator."""
    task, _, attempt = slot.rpartition(".")
    none = {"passed": 0, "judged": 0}
    row = {
        "slot": slot,
        "task": task.replace(".", "/", 1),
        "attempt": int(attempt),
        "family": NOT_JUDGED,
        "target": "",
        "execution": "",
        "gates": {},
        "reason": NOT_JUDGED,
    }
    return {**row, "seen": none, "unseen": none, "speedup": None, "score": None, "producer": {}}


def count_cases(result: Mapping[str, Any], gate: str) -> dict[str, int]:
    """How many cases of a gate were judged, and how many of them passed under every distribution."""
    verdicts: dict[str, set[str]] = {}
    for case in result["cases"]:
        if case["gate"] == gate and case["verdict"] != "skip":
            verdicts.setdefault(case["case"], set()).add(case["verdict"])
    return {"passed": sum(found == {"pass"} for found in verdicts.values()), "judged": len(verdicts)}


def _counts(name: str, rows: Sequence[Json]) -> Json:
    """`seen` and `unseen`: units that passed compile and correct, and those that passed general as well; all over `units`."""
    return {
        "family": name,
        "units": len(rows),
        "judged": sum(bool(row["gates"]) for row in rows),
        "compiled": _passed(rows, _PASSED[:1]),
        "seen": _passed(rows, _PASSED[:2]),
        "unseen": _passed(rows, _PASSED),
        "faster": sum(row["gates"].get("fast") == "pass" and bool(row["speedup"]) and row["speedup"]["low"] > 1 for row in rows),
        "timed": sum(bool(row["speedup"]) for row in rows),
    }


def _passed(rows: Iterable[Json], gates: Sequence[str]) -> int:
    return sum(all(row["gates"].get(gate) == "pass" for gate in gates) for row in rows)
