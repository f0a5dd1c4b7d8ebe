"""Goes on with a suite of scripted results, so that it can be killed at any moment: `python -m tests.arena.crash ROOT`."""

import copy
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from taskpack.arena.suite import run_suite, start_run

from .conftest import plan_here

PASSED = json.loads((Path(__file__).parents[1] / "cli" / "results" / "passed.json").read_text(encoding="utf-8"))


def judge(task: str, harness: Path, words: Sequence[str]) -> dict[str, Any]:
    """A result that depends on the candidate alone."""
    assert words[-1] == "--walled"
    text = (Path(words[1]) / "kernel.cpp").read_text()
    speedup = 1 + len(text) % 7
    result = copy.deepcopy(PASSED) | {"task": task, "candidate_is_baseline": False}
    result["digests"]["candidate"] = text
    result["speedup"] = {"geomean": speedup, "low": speedup, "high": speedup}
    return result


if __name__ == "__main__":
    root = Path(sys.argv[1])
    plan = plan_here(root, root / "no.pyz")
    sys.stdout.write("planned\n")
    sys.stdout.flush()
    for _ in run_suite(plan, start_run(plan, root / "runs", is_resumed=True), judge):
        pass
