"""Whatever happens to candidate or judge, no process, file or folder is left; and what a candidate can see while it runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harnesses import CPP, TORCH, Warm, make_plan, without, write_candidate, write_harness

DAEMONS = """
import os
import time

import torch


def softmax(x, y, rows, cols):
    torch.softmax(x, -1, out=y)
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 1024)
                time.sleep(3600)
            os._exit(0)
"""

TELLS = """
import json
import os
import sys

import torch


def can_write(path):
    try:
        with open(path, "w"):
            return True
    except OSError:
        return False


def softmax(x, y, rows, cols):
    torch.softmax(x, -1, out=y)
    if rows == 64:
        frame, names = sys._getframe().f_back, []
        while frame:
            names += [str(value)[:200] for value in frame.f_locals.values()]
            frame = frame.f_back
        tells = {
            "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
            "root": sorted(os.listdir("..")),
            "files": sorted(os.listdir(".")),
            "environment": dict(os.environ),
            "first-environment": open("/proc/self/environ").read(),
            "command": open("/proc/self/cmdline").read(),
            "argv": [*sys.argv, *sys.orig_argv],
            "path": sys.path,
            "modules": [name for name in sys.modules if "harness" in name],
            "frames": names,
            "writes": [path for path in ("/tmp/x", "/dev/shm/x", "/proc/sys/kernel/hostname", "x") if can_write(path)],
            "interfaces": open("/proc/net/dev").read(),
            "harness": len(open("HARNESS", "rb").read()),
            "privileges": [line for line in open("/proc/self/status") if line.startswith(("CapEff", "NoNewPrivs"))],
        }
        secrets = [word for word in ("SEED",) if word in json.dumps(tells)]
        print(json.dumps({**tells, "secrets": secrets, "frames": [text for text in names if any(word in text for word in secrets)]}))
"""


def no_fast(language: str) -> dict[str, object]:
    return without(make_plan(language), "fast")


@pytest.mark.parametrize("is_plain", [False, True])
def test_daemons_end_with_the_run(warm: Warm, tmp_path: Path, is_plain: bool) -> None:
    outcome = warm.run(write_harness(tmp_path / "h.pyz", no_fast("torch")), DAEMONS, is_plain=is_plain)

    assert outcome.result["isolation"] == ("process" if is_plain else "namespaces")
    assert outcome.code == 0, outcome.stderr
    assert not outcome.left


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import time\ndef softmax(x, y, rows, cols): time.sleep(60)", "did not answer within"),
        ("import os\ndef softmax(*_): os.abort()", "crashed with SIGABRT"),
    ],
)
def test_failures_without_namespaces(warm: Warm, tmp_path: Path, source: str, reason: str) -> None:
    plan = no_fast("torch")
    plan["limits"] = {"compile_s": 10, "call_s": 1, "memory_mib": 1024, "output_mib": 1}

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan), source, is_plain=True)

    assert reason in outcome.reason("correct")
    assert not outcome.left


def test_what_a_candidate_sees(tmp_path: Path) -> None:
    seed = "00112233445566778899aabbccddeeff"
    harness = write_harness(tmp_path / "h.pyz", no_fast("torch"))
    halves = f'{seed[:9]}" "{seed[9:]}'  # the candidate's own text must not hold what it looks for
    candidate = write_candidate(harness, TELLS.replace("SEED", halves).replace("HARNESS", str(harness)))
    command = [sys.executable, str(harness), "--json", "--seed", seed, "--candidate", str(candidate)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    result = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    seen = json.loads(result["testimony"]["stdout"].splitlines()[0])
    assert seen["secrets"] == [], seen["frames"]
    assert seen["modules"] == []
    assert seen["argv"] == [""]
    assert (seen["command"].strip("\0"), seen["first-environment"].strip("\0")) == ("", "")
    assert [name.partition("-")[0] for name in seen["root"]] == ["candidate"] or result["isolation"] == "process"
    assert "source" in seen["files"]
    if result["isolation"] == "namespaces":
        assert seen["processes"] == 2
        assert seen["harness"] == 0
        assert seen["writes"] == ["/dev/shm/x", "x"]
        assert set(seen["privileges"]) == {"CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n"}
        assert [line.split(":")[0].strip() for line in seen["interfaces"].splitlines()[2:]] == ["lo"]


def test_a_candidate_may_not_be_a_link(warm: Warm, tmp_path: Path) -> None:
    harness = write_harness(tmp_path / "h.pyz", no_fast("cpp"))
    (tmp_path / "elsewhere.cpp").write_text(CPP)
    folder = write_candidate(harness, {})
    (folder / "kernel.cpp").symlink_to(tmp_path / "elsewhere.cpp")

    outcome = warm.run(harness, {})

    assert outcome.verdict("compile") == "fail"
    assert "has a link in the place of `kernel.cpp`" in outcome.reason("compile")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_judge_that_is_stopped_takes_everything_along(tmp_path: Path, number: signal.Signals, code: int) -> None:
    plan = no_fast("torch")
    plan["limits"] = {"compile_s": 60, "call_s": 60, "memory_mib": 1024, "output_mib": 1}
    harness = write_harness(tmp_path / "h.pyz", plan)
    started = tmp_path / "started"
    sleeper = f"import time\n\ndef softmax(x, y, rows, cols):\n    print('here', flush=True)\n    time.sleep(3600)\n# {started}\n"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, str(harness), "--candidate", str(write_candidate(harness, sleeper))]
    judge = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        _wait_until(lambda: any(path.name.startswith("candidate") for path in temporary.glob("*/*")))
        time.sleep(0.3)
        processes = _tree(judge.pid)
        assert len(processes) >= 4
        judge.send_signal(number)
        judge.communicate(timeout=30)
    finally:
        judge.kill()

    assert judge.returncode == code
    _wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))
    _wait_until(lambda: not list(temporary.iterdir()))


def test_many_bad_candidates_then_a_good_one(warm: Warm, tmp_path: Path) -> None:
    """Nothing of one candidate reaches the next, as each run has processes of its own."""
    harness = write_harness(tmp_path / "h.pyz", no_fast("torch"))
    bad = ["import os\ndef softmax(*_): os.kill(os.getpid(), 11)", "def softmax(*_): raise KeyError", DAEMONS.replace("-1, out=y", "0, out=y")]
    for source in bad:
        outcome = warm.run(harness, source)
        assert outcome.verdict("correct") == "fail"
        assert not outcome.left

    assert warm.run(harness, TORCH).code == 0


def _tree(pid: int) -> list[int]:
    found, queue = [], [pid]
    while queue:
        found += queue
        queue = [int(child) for parent in queue for task in Path(f"/proc/{parent}/task").glob("*/children") for child in task.read_text().split()]
    return found


def _wait_until(holds, seconds: float = 20.0) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)
