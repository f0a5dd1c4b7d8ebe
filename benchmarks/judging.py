"""What judging costs on a GPU: `python benchmarks/judging.py`. A Triton softmax candidate on eight seen cases, all timed, and eight unseen ones.

From a warm parent, as an agent's loop would have it: seconds of a first run, of a second candidate's, and of a run without the gate `fast`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "runtime"))

from harnesses import TRITON, Outcome, Warm, make_gpu_plan, without, write_harness

SHAPES = ((64, 512), (128, 4096), (256, 1024), (512, 2048), (1024, 1024), (2048, 768), (4096, 1024), (8192, 1024))
_NAIVE = (
    "import torch\ndef softmax(x, y, rows, cols):\n    e = torch.exp(x - x.max(-1, keepdim=True).values)\n    torch.div(e, e.sum(-1, keepdim=True), out=y)\n"
)


def said(words: str, outcome: Outcome) -> None:
    gates = {gate["gate"]: (gate["verdict"], gate["seconds"]) for gate in outcome.result["gates"]}
    print(f"{words}: {outcome.seconds:.1f} s {json.dumps(gates)}", flush=True)


def main() -> int:
    plan = make_gpu_plan()
    plan["cases"] = [
        {"id": f"n{at}", "scale": "full", "values": {"rows": rows, "cols": cols, "T": "float32"}, "digest": f"sha256:{at}", "timed": True}
        for at, (rows, cols) in enumerate(SHAPES)
    ]
    draws = {"rows": {"range": [64, 8192]}, "cols": {"range": [512, 4096], "not-multiple-of": 64}, "T": "float32"}
    plan["unseen"] = [{"id": "drawn", "scale": "full", "count": 8, "draws": draws}]
    warm = Warm()
    with tempfile.TemporaryDirectory() as folder:
        timed = write_harness(Path(folder, "timed.pyz"), plan, baseline=_NAIVE)
        checked = write_harness(Path(folder, "checked.pyz"), without(plan, "fast"), baseline=_NAIVE)
        for number, candidate in enumerate((TRITON, TRITON + "\n# another\n"), 1):
            said(f"candidate {number}, correctness alone", warm.run(checked, candidate))
            outcome = warm.run(timed, candidate)
            said(f"candidate {number}, {len(outcome.result['timing'])} cases timed on both sides", outcome)
    for timing in outcome.result["timing"]:
        print(timing["case"], timing["sets"], timing["reason"])
    warm.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
