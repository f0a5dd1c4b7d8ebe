"""How exact the judge's clock is on a GPU, beside other clocks: `python benchmarks/clock.py OUT`.

Each kernel is judged against itself, several whole measurements in one run of a harness, so that every measurement is also one of a speedup that must be 1.
The truth beside it is CUPTI's span (first start to last end over the number of calls, by torch.profiler) of one captured pass over as many input sets,
in a process of its own; there `triton.testing.do_bench` and plain events are asked, too. OUT gets `clock-DEVICE.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "runtime"))

from harnesses import TRITON, Warm, make_gpu_plan, write_harness

SPREAD_OF = 5
_HEAD = "import torch\ndef softmax(x, y, rows, cols):\n    "
_NAIVE = _HEAD + "e = torch.exp(x - x.max(-1, keepdim=True).values)\n    torch.div(e, e.sum(-1, keepdim=True), out=y)\n"
_OPERATIONS = {
    "exp": (_HEAD + "torch.exp(x, out=y)\n", "x.exp()"),
    "copy": (_HEAD + "y.copy_(x)\n", "x.clone()"),
    "cumsum": (_HEAD + "torch.cumsum(x, -1, out=y)\n", "x.cumsum(-1)"),
    "matmul": (_HEAD + "torch.mm(x, x, out=y)\n", "x @ x"),
    "softmax, Triton": (TRITON, "x.softmax(-1)"),
    "softmax, five kernels": (_NAIVE, "x.softmax(-1)"),
}
KERNELS = (
    *(("exp", 64, 1024), ("softmax, Triton", 256, 1024), ("copy", 1024, 1024), ("cumsum", 1024, 1024), ("softmax, Triton", 4096, 1024)),
    *(("softmax, five kernels", 256, 1024), ("exp", 8192, 1024), ("softmax, five kernels", 4096, 1024), ("matmul", 1024, 1024)),
    *(("softmax, Triton", 16384, 4096), ("matmul", 2048, 2048), ("matmul", 4096, 4096), ("matmul", 8192, 8192)),
)
_TRUTH = """
import json, statistics, sys, time
import torch
from torch.profiler import ProfilerActivity, profile
sys.path.insert(0, sys.argv[1])
from kernel import softmax as kernel
rows, cols, count = map(int, sys.argv[2:])
sets = [(torch.randn(rows, cols, device="cuda"), torch.empty(rows, cols, device="cuda")) for _ in range(count)]
call = lambda x, y: kernel(x, y, rows, cols)
call(*sets[0])
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for pair in sets:
        call(*pair)
spans = []
for _ in range(5):
    graph.replay()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        graph.replay()
        torch.cuda.synchronize()
    events = [e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA and "Synchronize" not in e.name and e.name != "Context Sync"]
    spans.append((max(e.time_range.end for e in events) - min(e.time_range.start for e in events)) / count)
import triton
bench = 1e3 * triton.testing.do_bench(lambda: call(*sets[0]), return_mode="median")
first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
events_us = []
for _ in range(100):
    first.record(); call(*sets[0]); last.record()
    torch.cuda.synchronize()
    events_us.append(1e3 * first.elapsed_time(last))
print(json.dumps({"cupti_us": statistics.median(spans), "cupti_all_us": spans, "do_bench_us": bench, "events_us": statistics.median(events_us)}))
"""


def measure(warm: Warm, name: str, rows: int, cols: int, measurements: int, is_quick: bool) -> dict[str, Any]:
    source, reference = _OPERATIONS[name]
    plan = make_gpu_plan(*2 * ("triton" if source is TRITON else "torch",))
    values = {"rows": rows, "cols": cols, "T": "float32"}
    plan["cases"] = [{"id": f"n{at}", "scale": "full", "values": values, "digest": f"sha256:{at}", "timed": True} for at in range(measurements)]
    plan |= {"unseen": [], "gates": ["compile", "correct", "fast"]}
    with tempfile.TemporaryDirectory() as folder:
        harness = write_harness(Path(folder, "h.pyz"), plan, f"def softmax(x):\n    return {reference}\n", source)
        begin = time.monotonic()
        outcome = warm.run(harness, source, is_quick=is_quick)
        if not outcome.result:
            raise SystemExit(outcome.stderr)
        seconds = time.monotonic() - begin
        timings = [{key: value for key, value in timing.items() if key != "samples"} for timing in outcome.result["timing"]]
        Path(folder, "kernel.py").write_text(source, encoding="utf-8")
        count = max((timing["sets"][1] for timing in timings), default=2)
        command = [sys.executable, "-W", "ignore", "-c", _TRUTH, folder, str(rows), str(cols), str(count)]
        truth = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return {"kernel": name, "rows": rows, "cols": cols, "seconds": seconds, "gates": outcome.result["gates"], "timing": timings, **truth}


def line(found: dict[str, Any]) -> str:
    sound = [one for one in found["timing"] if one["speedup"] is not None]
    named = f"{found['kernel']} {found['rows']} × {found['cols']}"
    if len(sound) < 2:
        return f"| {named} | {[one['reason'] for one in found['timing']]} {found['gates']}"
    times = [one["candidate_us"] for one in sound]
    median, truth = statistics.median(times), found["cupti_us"]
    five = times[:SPREAD_OF]
    spread = (max(five) - min(five)) / statistics.median(five)
    held = sum(one["low"] <= 1 <= one["high"] for one in sound)
    widths = statistics.median((one["high"] - one["low"]) / 2 for one in sound)
    errors = f"{median / truth - 1:+.1%} ({min(times) / truth - 1:+.1%} to {max(times) / truth - 1:+.1%})"
    others = f"{found['do_bench_us']:.2f} | {found['events_us']:.2f}"
    return f"| {named} | {truth:.2f} | {median:.2f} | {errors} | {spread:.1%} | {others} | {held} of {len(sound)} | ±{widths:.1%} | {found['seconds']:.0f} s |"


def main() -> int:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--measurements", type=int, default=9)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kernels", type=int, nargs="*", default=range(len(KERNELS)), help="their places in the list, when not all are wanted")
    asked = parser.parse_args()

    device = torch.cuda.get_device_name(0)
    asked.out.mkdir(parents=True, exist_ok=True)
    page = asked.out / f"clock-{device.split()[-1].lower()}.json"
    warm, found = Warm(), []
    for at in asked.kernels:
        found.append(measure(warm, *KERNELS[at], asked.measurements, asked.quick))
        print(line(found[-1]), flush=True)
        text = json.dumps({"device": device, "torch": torch.__version__, "kernels": found}, indent=1)
        page.write_text(text + "\n", encoding="utf-8")  # after each, as all take many minutes
    warm.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
