"""One unit of each system on one machine, in one command: `python benchmarks/first_light.py --target h200 OUT`, or `make bench-gpu`.

Arena: a suite of one Triton task, worked on by the agent `replay`. Pipeline: `tune` on Triton tasks; what it ends with is measured anew, as the
best of several measurements looks better than it is. Production: a norm of Llama's swapped into the model. Everything is taskpack's own commands;
OUT gets `first-light-TARGET.json`, with every digest, and a page made from it.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SUITE = """format = 1

[pack]
kind = "suite"
name = "local/one-task"
version = "0.1.0"
summary = "One task of first-light"
license = "Apache-2.0"

[pack.dependencies]
"TASK" = "*"

[suite]
doc = "Judged by the arena's policy."
tasks = ["TASK"]

[suite.score]
policy = "arena"
"""
UNIT = "arena/triton2triton-softmax"
TUNED = ("arena/triton2triton-matmul", "arena/triton2triton-gemm-bias-gelu", "arena/triton2triton-softmax", "arena/triton2triton-rmsnorm")
MODEL, NORM = "models/llama", "production/hf-llama-rmsnorm"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--target", default="auto")
    parser.add_argument("--tasks", nargs="+", default=TUNED, help="those that are tuned")
    parser.add_argument("--config", default="full", help="of the model: tiny or full")
    parser.add_argument("--quick", action="store_true", help="also where results are kept")
    words = parser.parse_args()
    quick = ["--quick"] if words.quick else []
    with tempfile.TemporaryDirectory() as folder:
        place = Bench(Path(folder), words.target)
        found: dict[str, Any] = {"arena": place.arena(quick)}
        found["pipeline"] = [place.pipeline(task, quick) for task in words.tasks]
        found["production"] = place.production(words.config, quick)
    found["tuned"] = geomean([one["result"]["speedup"] for one in found["pipeline"]])
    name = f"first-light-{found['arena']['unit']['result']['target'].rpartition('/')[2]}"
    words.out.mkdir(parents=True, exist_ok=True)
    (words.out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (words.out / f"{name}.md").write_text(page(found), encoding="utf-8")
    print(page(found))
    return 0


class Bench:
    """A folder in which taskpack is used as by its users."""

    def __init__(self, folder: Path, target: str) -> None:
        self.folder, self.target = folder, ["--target", target]
        (folder / "packs").symlink_to(ROOT / "packs")

    def arena(self, quick: list[str]) -> dict[str, Any]:
        suite = self.folder / "suite"
        suite.mkdir()
        (suite / "pack.toml").write_text(SUITE.replace("TASK", UNIT), encoding="utf-8")
        report = json.loads(self.taskpack("run", str(suite), "--agent", "replay", *self.target, *quick, "--json"))
        (unit,) = suite.glob(".taskpack/runs/*/units/*.json")
        kept = json.loads(unit.read_text(encoding="utf-8"))
        return {"score": report["score"], "unit": {**kept, "result": without_samples(kept["result"])}}

    def pipeline(self, task: str, quick: list[str]) -> dict[str, Any]:
        """Rounds are measured briefly, what came of them with the whole budget."""
        said = self.taskpack("optimize", task, "--agent", "tune", *self.target, "--quick")
        candidate = self.folder / said.strip().rpartition(": ")[2]
        trials = json.loads(self.taskpack("trials", str(candidate.parent), "--json"))
        result = json.loads(self.taskpack("run", task, "--candidate", str(candidate), *self.target, *quick, "--json"))
        files = {path.name: path.read_text(encoding="utf-8") for path in candidate.iterdir()}
        return {"task": task, "trials": trials, "files": files, "result": without_samples(result)}

    def production(self, config: str, quick: list[str]) -> dict[str, Any]:
        candidate = ROOT / "packs" / NORM / "examples" / "one-call"
        said = self.taskpack("swap", MODEL, "--with", f"{NORM}={candidate}", "--config", config, *self.target, *quick, "--json")
        return {"with": f"{NORM}, example one-call", "result": without_samples(json.loads(said))}

    def taskpack(self, *words: str) -> str:
        """What it prints; a verdict that is no pass (exit 1) is a result, too."""
        print("taskpack", *words, file=sys.stderr, flush=True)
        done = subprocess.run([sys.executable, "-m", "taskpack", *words], cwd=self.folder, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"taskpack {' '.join(words)} ended with {done.returncode}")
        return done.stdout


def without_samples(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "timing": [{key: value for key, value in timing.items() if key != "samples"} for timing in result["timing"]]}


def geomean(speedups: list[dict[str, float] | None]) -> dict[str, float] | None:
    """Of tasks that were measured one after another: half widths add in quadrature, as logarithms. None unless all have a speedup."""
    if not speedups or None in speedups:
        return None
    logs = [[math.log(one[key]) for key in ("geomean", "low", "high")] for one in speedups if one]
    mean = math.fsum(middle for middle, _, _ in logs) / len(logs)
    below, above = (math.hypot(*(abs(ends[0] - ends[side]) for ends in logs)) / len(logs) for side in (1, 2))
    return {"geomean": math.exp(mean), "low": math.exp(mean - below), "high": math.exp(mean + above)}


def page(found: dict[str, Any]) -> str:
    unit = found["arena"]["unit"]["result"]
    gpus = ", ".join(gpu["name"] for gpu in unit["probe"].get("gpus", [])) or unit["probe"]["cpu"]
    tools = ", ".join(f"{name} {version}" for name, version in unit["toolchain"].items())
    swap = found["production"]["result"]
    lines = [
        f"# First light on {gpus}",
        "",
        f"Made by `python benchmarks/first_light.py`: {tools}. Isolation: {unit['isolation']}. Speedups are against the baseline, with 95 % intervals.",
        "",
        "| system | what | verdict | speedup | harness |",
        "| --- | --- | --- | --- | --- |",
        row("arena", f"{unit['task']}, agent replay", unit),
        *(row("pipeline", f"{one['task']}, tune, {len(trials_of(one))} rounds", one["result"]) for one in found["pipeline"]),
        row("production", f"{swap['task']} with {found['production']['with']}", swap),
        "",
        f"Score of the arena's unit: {found['arena']['score']['value']:.1f}. All tuned tasks: {words_of(found['tuned'])}, geometric mean.",
        "",
        "| task | case | baseline | candidate | speedup | launch |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for result in (unit, *(one["result"] for one in found["pipeline"]), swap):
        lines += [case_row(result["task"], timing) for timing in result["timing"]]
    return "\n".join(lines) + "\n"


def trials_of(one: dict[str, Any]) -> list[Any]:
    return [trial for stage in one["trials"]["stages"] for trial in stage["trials"]]


def row(system: str, what: str, result: dict[str, Any]) -> str:
    bad = next((gate for gate in result["gates"] if gate["verdict"] not in ("pass", "skip")), None)
    verdict = f"{bad['gate']} {bad['verdict']}: {bad['reason']}" if bad else "pass"
    return f"| {system} | {what} | {verdict} | {words_of(result['speedup'])} | `{result['digests']['harness'][:19]}` |"


def case_row(task: str, timing: dict[str, Any]) -> str:
    name = f"{timing['case']}{', unseen' if timing['unseen'] else ''}"
    if timing["speedup"] is None:
        return f"| {task} | {name} | | | {timing['reason']} | {timing['launch']} |"
    times = f"{timing['baseline_us']:.1f} µs | {timing['candidate_us']:.1f} µs"
    return f"| {task} | {name} | {times} | {timing['speedup']:.2f}x ({timing['low']:.2f}–{timing['high']:.2f}) | {timing['launch']} |"


def words_of(speedup: dict[str, float] | None) -> str:
    return f"{speedup['geomean']:.2f}x ({speedup['low']:.2f}–{speedup['high']:.2f})" if speedup else "none"


if __name__ == "__main__":
    sys.exit(main())
