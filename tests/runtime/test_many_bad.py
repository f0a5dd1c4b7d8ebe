"""Candidates that crash, hang, leak or fork, judged in a row: nothing of them is left, and the honest one after them passes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harnesses import TORCH, Warm, make_plan, without, write_harness

_HEAD = "import ctypes, mmap, os, signal, socket, sys, tempfile, time, torch\nkept = []\ndef softmax(x, y, rows, cols):\n"
BAD = (
    "os.kill(os.getpid(), signal.SIGSEGV)",
    "os._exit({n})",
    "time.sleep(60 + {n})",
    "while True: kept.append({n}) if not kept else None",
    "kept.append(bytearray(b'x') * ((600 + {n}) << 20)); time.sleep(60)",
    "kept.extend(os.open('/dev/null', 0) for _ in range(2000 + {n}))",
    "[os.write(tempfile.mkstemp()[0], b'x' * {n}) for _ in range(9)]; open('/dev/shm/many-bad-{n}', 'w').write('x'); os.abort()",
    "os.write(os.memfd_create('bad'), b'x' * {n}); ctypes.CDLL(None).shmget({n} + 7000, 4096, 0o1600); raise ValueError({n})",
    "if not os.fork(): time.sleep(60 + {n})\n    raise ValueError({n})",
    "if not os.fork():\n        os.setsid()\n        if not os.fork(): time.sleep(60 + {n})\n        os._exit(0)\n    os._exit(3)",
)


def _left() -> set[str]:
    """What outlives a process by nature: shared memory of both kinds."""
    table = Path("/proc/sysvipc/shm")
    lines = table.read_text(encoding="ascii").splitlines()[1:] if table.exists() else []
    return {path.name for path in Path("/dev/shm").glob("many-bad-*")} | {line.split()[1] for line in lines if 7000 <= int(line.split()[0]) < 7300}


def _judge(warm: Warm, folder: Path, numbers: range) -> None:
    folder.mkdir()
    plan = without(make_plan("torch"), "general", "fast")
    plan["limits"] = {"compile_s": 20, "call_s": 0.5, "memory_mib": 512, "output_mib": 1}
    harness = write_harness(folder / "h.pyz", plan)
    for n in numbers:
        outcome = warm.run(harness, _HEAD + "    " + BAD[n % len(BAD)].format(n=n) + "\n")
        assert outcome.code == 1, (n, outcome.stderr)
        assert not outcome.left, n
    plan["limits"]["call_s"] = 5
    assert warm.run(write_harness(folder / "h.pyz", plan), TORCH).code == 0


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_many_bad(warm: Warm, tmp_path: Path, count: int) -> None:
    """In two rows beside each other; each ends with an honest one."""
    before = _left()
    other = Warm()
    try:
        with ThreadPoolExecutor(2) as pool:
            rows = [pool.submit(_judge, *row) for row in ((warm, tmp_path / "one", range(count // 2)), (other, tmp_path / "two", range(count // 2, count)))]
            for row in rows:
                row.result()
    finally:
        other.close()
    assert _left() == before
