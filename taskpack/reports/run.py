"""A whole run as text, and two runs beside each other. Pure functions of what `scoring` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taskpack.runs.folder import Run, Unit
from taskpack.scoring.summary import summarise_run

from .text import align, bold, harmless, in_order, interval, painted, render_result

Json = Mapping[str, Any]


def render_run(run: Run, units: Mapping[str, Unit], *, colour: bool = False, width: int = 120) -> str:
    """One unit in full, or a table of all that were planned, with those that passed on seen cases against those that passed on unseen ones, too."""
    if len(run.header.slots) == 1 and len(units) == 1:
        (unit,) = units.values()
        return render_result(unit.result, colour=colour, width=width)
    summary = summarise_run(run.header, units)
    blocks = [[bold(_head(summary), colour)], _units(summary, colour), _reasons(summary, width), _families(summary), _total(summary, colour)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def render_comparison(comparison: Json, *, colour: bool = False, width: int = 120) -> str:
    """A row for each pair of units, then how often each difference occurs."""
    rows = [("task", "first", "second", "difference", "verdicts"), *(_pair_row(pair) for pair in comparison["pairs"])]
    counts = ", ".join(f"{count} {difference}" for difference, count in comparison["counts"].items()) or "nothing to compare"
    legend = "noise: the 95 % intervals of the speedups overlap"
    return "\n".join([*align(rows, right=(), width=width), "", bold(counts, colour), *([legend] if "noise" in comparison["counts"] else [])]) + "\n"


def _head(summary: Json) -> str:
    run, counts = summary["run"], summary["all"]
    asked = ", ".join(f"{what} {name}" for what, name in sorted(run["asked"].items(), key=lambda item: item[0] == "agent") if isinstance(name, str))
    targets = dict.fromkeys(unit["target"] for unit in summary["units"] if unit["target"])
    return f"{asked} on {', '.join(targets) or run['target']}: {counts['judged']} of {counts['units']} units judged"


def _units(summary: Json, colour: bool) -> list[str]:
    units = summary["units"]
    gates = in_order(unit["gates"] for unit in units)
    rows = [("unit", *gates, "seen", "unseen", "speedup", "score")]
    for unit in units:
        verdicts = [painted(unit["gates"].get(gate, "" if unit["gates"] else "none"), colour) for gate in gates]
        speed = interval(unit["speedup"], "geomean") or (unit["execution"] if unit["execution"] != "native" else "")
        rows.append((_name(unit), *verdicts, _cases(unit["seen"]), _cases(unit["unseen"]), speed, _score(unit["score"])))
    return align(rows, right=(len(gates) + 1, len(gates) + 2))


def _reasons(summary: Json, width: int) -> list[str]:
    rows = [(_name(unit), harmless(unit["reason"])) for unit in summary["units"] if unit["reason"]]
    return align([("did not pass", "reason"), *rows], right=(), width=width) if rows else []


def _name(unit: Json) -> str:
    return unit["task"] if unit["attempt"] == 1 else f"{unit['task']} #{unit['attempt']}"


def _families(summary: Json) -> list[str]:
    """Units by family: what passed on the cases that the candidate's author saw, and what passed on those that were withheld as well."""
    head = ("family", "units", "compiled", "right on seen", "and on unseen", "lost", "faster", "")
    rows = []
    for counts in (*summary["families"], summary["all"]):
        numbers = [f"{counts[key]}/{counts['units']}" for key in ("compiled", "seen", "unseen")]
        faster = f"{counts['faster']}/{counts['units']}" if counts["timed"] else "no native time"
        rows.append((counts["family"], str(counts["units"]), *numbers, str(counts["seen"] - counts["unseen"]), faster, ""))
    return align([head, *rows], right=(1, 2, 3, 4, 5))


def _total(summary: Json, colour: bool) -> list[str]:
    """The suite's score, what it rests on, and what it lacks."""
    score = summary["score"]
    if score is None:
        return []
    value = "none" if score["value"] is None else f"{score['value']:.2f}"
    notes = [f"{score['aggregate']} of {score['units']} planned units"]
    notes += [f"{score['units'] - score['scored']} of them without a score, as they were not timed"] if score["scored"] < score["units"] else []
    notes += [f"{score['partial']} partial: right, and not timed"] if score["partial"] else []
    return [f"{bold(f'score {value}', colour)}  {'; '.join(notes)}"]


def _pair_row(pair: Json) -> tuple[str, ...]:
    name = f"{_name(pair)} on {pair['target']}"
    first, second = (interval(speedup, "geomean") for speedup in pair.get("speedups", (None, None)))
    changes = ", ".join(f"{gate}: {before or 'none'} → {after or 'none'}" for gate, (before, after) in pair.get("verdicts", {}).items())
    return (name, first, second, pair["difference"], changes)


def _cases(counts: Json) -> str:
    return f"{counts['passed']}/{counts['judged']}" if counts["judged"] else ""


def _score(score: Json | None) -> str:
    if score is None:
        return ""
    value = "none" if score["value"] is None else f"{score['value']:.1f}"
    return f"{value} (partial)" if score["partial"] else value
