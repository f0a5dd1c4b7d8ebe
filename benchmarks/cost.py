"""What taskpack itself costs, in CPU time, beside the limits that it promises: `make bench`.

CPU time of the process and its children (user and system), the least of several runs: the machine's other work adds, it never takes away.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TASKPACK = ("-m", "taskpack")
RUNS = 7


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        packs = Path(shutil.copytree(ROOT / "packs", Path(folder) / "packs", ignore=shutil.ignore_patterns(".taskpack")))
        rows = [*_start_up(), *_packs(packs)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=False))), row[3])
    return any(row[3] == "over" for row in rows)


def _start_up() -> list[tuple[str, ...]]:
    click = _cpu("-c", "import click")
    bare = _cpu("-c", "")
    version = _cpu(*TASKPACK, "--version")
    return [
        ("what", "CPU", "limit", ""),
        ("python -c ''", _ms(bare), "", ""),
        ("python -c 'import click'", _ms(click), "", ""),
        ("taskpack --version", _ms(version), _ms(2 * click), _verdict(version, 2 * click)),
        ("taskpack --help", _ms(_cpu(*TASKPACK, "--help")), "", ""),
    ]


def _packs(packs: Path) -> list[tuple[str, ...]]:
    count = len(list(packs.rglob("pack.toml")))
    check = _cpu(*TASKPACK, "check", str(packs))
    first = _cpu(*TASKPACK, "build", "--target", "cpu", str(packs), runs=1)
    again = _cpu(*TASKPACK, "build", "--target", "cpu", str(packs))
    one = _cpu(*TASKPACK, "build", "--target", "cpu", str(packs / "arena" / "cpp2cpp-softmax"))
    return [
        (f"taskpack check, {count} packs", _ms(check), _ms(1.5), _verdict(check, 1.5)),
        ("taskpack build, all tasks, first time", _ms(first), "", ""),
        ("taskpack build, all tasks, up to date", _ms(again), _ms(1.0), _verdict(again, 1.0)),
        ("taskpack build, one task, up to date", _ms(one), "", ""),
    ]


def _cpu(*words: str, runs: int = RUNS) -> float:
    """Seconds."""
    times = []
    for _ in range(runs):
        before = os.times()
        subprocess.run([sys.executable, *words], check=True, capture_output=True, cwd=ROOT)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


def _verdict(cost: float, limit: float) -> str:
    return "ok" if cost <= limit else "over"


if __name__ == "__main__":
    sys.exit(main())
