"""Writes units without end, so that it can be killed in the middle: `python -m tests.runs.killed_writer FOLDER`."""

import json
import sys
from pathlib import Path

from taskpack.runs.folder import Header, Unit, create_run, held, open_run, read_units, write_unit

SLOTS = tuple(f"local.softmax.{number}" for number in range(1, 61))
RESULT = json.loads((Path(__file__).parents[1] / "cli" / "results" / "passed.json").read_text(encoding="utf-8"))


def unit(slot: str) -> Unit:
    return Unit({"harness": "h", "candidate": slot, "attempt": 1, "target": "t", "toolchain": {}}, RESULT)


def files(slot: str) -> dict[str, bytes]:
    return {"candidate/kernel.cpp": slot.encode() * 500, "diff.patch": b"", "log.txt": b"x" * 20_000}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    run = open_run(folder) if (folder / "run.json").exists() else create_run(folder, Header("suite", {"suite": "local/s"}, SLOTS))
    with held(run):
        done = read_units(run)
        for slot in SLOTS:
            if slot not in done:
                sys.stdout.write(f"{slot}\n")
                sys.stdout.flush()
                write_unit(run, slot, unit(slot), files(slot))
