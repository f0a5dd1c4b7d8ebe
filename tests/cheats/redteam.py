"""Has the judge look at every attack and every honest candidate, two at a time, and prints what became of each: `make redteam`.

Options: names of folders, when not all are wanted; `--device cuda` judges those in Python and Triton on a GPU, and one at a time. The exit status is 1
unless every attack that is not known to be open was stopped by its gate and every honest candidate passed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

import folders
from folders import LIMITS, ROOT, Cheat

sys.path.insert(0, str(ROOT / "tests" / "runtime"))

from harnesses import FILES, Outcome, Warm, make_gpu_plan, make_plan, side, without, write_harness

_PARALLEL = {"cpu": 2, "cuda": 1}


@dataclass(frozen=True)
class Judged:
    """What became of one folder."""

    outcome: Outcome
    gate: str
    """The gate that did not pass, or `none`."""
    reason: str
    fault: str
    """How this is not what cheat.toml says; empty where it is."""


def judge(cheat: Cheat, warm: Warm, folder: Path, device: str = "cpu") -> Judged:
    """Runs a real harness on the folder's candidate; only what needs the gate `fast` is timed."""
    if device == "cuda":
        plan = make_gpu_plan("torch", cheat.language)
        plan["cases"][0]["values"]["cols"] = 960  # as on the CPU, only what is unseen is ragged
    else:
        plan = {**make_plan(cheat.told.get("baseline", cheat.language), cheat.language), "limits": {**LIMITS, **cheat.told.get("limits", {})}}
    if cheat.style != "destination":
        plan["candidate"] = {**side(cheat.language, cheat.style), "start": None, "execution": plan["candidate"]["execution"]}
    harness = write_harness(folder / "h.pyz", plan if cheat.stopped_by == "fast" else without(plan, "fast"))
    outcome = warm.run(harness, cheat.files)
    if not outcome.result:
        return Judged(outcome, "none", outcome.stderr, f"the harness said nothing: {outcome.stderr[-500:]}")
    stopped = next((gate for gate in outcome.result["gates"] if gate["verdict"] not in ("pass", "skip")), {"gate": "none", "verdict": "pass", "reason": ""})
    return Judged(outcome, stopped["gate"], stopped["reason"], _fault(cheat, outcome, stopped, device))


def _fault(cheat: Cheat, outcome: Outcome, stopped: dict[str, Any], device: str) -> str:
    if outcome.left:
        return f"left behind: {', '.join(outcome.left)}"
    if stopped["gate"] != cheat.stopped_by:
        return f"stopped by {stopped['gate']}, want {cheat.stopped_by}: {stopped['reason']}"
    if cheat.stopped_by == "none":
        return ""
    if cheat.told.get("may-be-inconclusive") and stopped["verdict"] == "inconclusive":
        return ""
    if stopped["verdict"] != "fail" or outcome.code != 1:
        return f"{stopped['verdict']} with status {outcome.code}: {stopped['reason']}"
    reason = cheat.told.get(f"{device}-reason", cheat.told["reason"])
    return "" if any(words in stopped["reason"] for words in ([reason] if isinstance(reason, str) else reason)) else f"reason: {stopped['reason']}"


def missing(cheat: Cheat, device: str = "cpu") -> str:
    """Why this machine cannot judge the folder on the device; empty where it can."""
    if cheat.told.get("device", device) != device or (device == "cuda" and cheat.language not in ("torch", "triton")):
        return f"is not for {device}"
    if cheat.language in ("cpp", "hip") and not (shutil.which("g++") or shutil.which("clang++")):
        return "no C++ compiler"
    if cheat.language == "triton":
        try:
            import triton  # noqa: F401
        except ImportError:
            return "no triton"
    assert FILES[cheat.language] in cheat.files
    return ""


def _run(cheat: Cheat, parents: Queue[Warm], device: str) -> Judged:
    warm = parents.get()
    try:
        with tempfile.TemporaryDirectory(prefix="redteam-") as folder:
            return judge(cheat, warm, Path(folder), device)
    finally:
        parents.put(warm)


def _line(cheat: Cheat, judged: Judged) -> str:
    words = judged.fault or judged.reason
    state = "open" if judged.fault and cheat.told.get("open") else "WRONG" if judged.fault else judged.gate
    seconds = judged.outcome.seconds
    return f"{cheat.name:32} {cheat.language:7} {cheat.told.get('class', cheat.kind):24} {state:8} {seconds:5.1f} s  {words[:110]}"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", choices=list(_PARALLEL), default="cpu")
    asked = parser.parse_args(words)
    names, device = asked.names, asked.device
    begin = time.monotonic()
    cheats = [cheat for kind in ("attacks", "honest") for cheat in folders.read(kind) if not names or cheat.name in names]
    able = [cheat for cheat in cheats if not missing(cheat, device)]
    parents: Queue[Warm] = Queue()
    for _ in range(_PARALLEL[device]):
        parents.put(Warm())
    counts, wrong = {"attacks": [0, 0], "honest": [0, 0]}, 0
    with ThreadPoolExecutor(_PARALLEL[device]) as pool:
        for cheat, judged in zip(able, pool.map(lambda one: _run(one, parents, device), able), strict=True):
            counts[cheat.kind][0] += not judged.fault
            counts[cheat.kind][1] += 1
            wrong += bool(judged.fault) and not cheat.told.get("open")
            print(_line(cheat, judged), flush=True)
    while not parents.empty():
        parents.get().close()
    (stopped, attacks), (passed, honest) = counts["attacks"], counts["honest"]
    if len(able) < len(cheats):
        print(f"{len(cheats) - len(able)} cannot be judged on this machine")
    for cheat in able:
        if cheat.told.get("open"):
            print(f"{cheat.name} is known to be open: {cheat.told['why-open']}")
    print(f"{time.monotonic() - begin:.0f} s")
    print(f"attacks stopped {stopped} of {attacks}, honest passed {passed} of {honest}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
