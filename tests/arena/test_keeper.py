"""Nothing that was started under the keeper is left: not its own children, nor what left its session, nor when whoever asked for it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taskpack.runs.kept import started

_SLEEPER = "sh -c 'echo $$ >> pids; exec sleep 600' &"
ESCAPES = f"(setsid {_SLEEPER}) ; {_SLEEPER} while [ $(wc -l < pids) -lt 2 ]; do sleep 0.01; done; "


def _pids(folder: Path) -> list[int]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (folder / "pids").exists() and len(found := (folder / "pids").read_text().split()) == 2:
            return [int(pid) for pid in found]
        time.sleep(0.01)
    raise AssertionError("the command did not start")


def _are_gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(("end", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_a_command_that_ends_leaves_nothing(end: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "pids").touch()
    with started(["sh", "-c", ESCAPES + end], grace_s=0, cwd=tmp_path) as process:
        assert process.wait(20) == code
    assert _are_gone(_pids(tmp_path))


def test_a_block_that_ends_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "pids").touch()
    with started(["sh", "-c", ESCAPES + "sleep 600"], grace_s=0, cwd=tmp_path):
        pids = _pids(tmp_path)
    assert _are_gone(pids)


def test_a_killed_asker_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "pids").touch()
    words = ["sh", "-c", ESCAPES + "sleep 600"]
    script = f"from taskpack.runs.kept import started\nwith started({words!r}, grace_s=0, cwd={str(tmp_path)!r}) as p: p.wait()"
    asker = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    pids = _pids(tmp_path)
    asker.kill()
    asker.wait()
    assert _are_gone(pids)


def test_there_is_time_to_clean_up(tmp_path: Path) -> None:
    with started(["sh", "-c", "trap 'touch cleaned; exit 3' TERM; touch ready; while :; do sleep 0.01; done"], grace_s=20, cwd=tmp_path) as process:
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(20) == 3
    assert (tmp_path / "cleaned").exists()


def test_a_command_that_there_is_not() -> None:
    with started(["no-such-program"], grace_s=0, stderr=subprocess.PIPE) as process:
        assert process.stderr
        assert b"no-such-program cannot be run" in process.stderr.read()
        process.stderr.close()
        assert process.wait() == 127
