"""The seam between the command line and a harness: events, refusals, interruptions. The harnesses here are scripts that only play their part."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from taskpack.errors import IntegrityError, TargetAbsent, TaskpackError, UsageError
from taskpack.runs.judging import HarnessError, judge

EVENTS = """
import json, os, sys
out = int(sys.argv[sys.argv.index("--events-fd") + 1])
def note(event, **content): os.write(out, json.dumps({"event": event, **content}).encode() + b"\\n")
"""


def _harness(folder: Path, body: str) -> Path:
    path = folder / "harness.py"
    path.write_text(EVENTS + body)
    return path


def test_events_come_in_order_and_the_result_is_the_last(tmp_path: Path) -> None:
    heard: list[dict[str, Any]] = []
    body = "note('gate-start', gate='compile'); print('x' * 100_000); note('result', result={'words': sys.argv[1:-2]}); sys.exit(1)"
    result, code = judge(_harness(tmp_path, body), ["--seed", "ab"], heard.append)
    assert (result, code) == ({"words": ["--seed", "ab"]}, 1)
    assert [event["event"] for event in heard] == ["gate-start", "result"]


@pytest.mark.parametrize(("code", "error"), [(2, UsageError), (3, TargetAbsent), (5, IntegrityError)])
def test_a_refusal_keeps_its_words_and_its_code(code: int, error: type[TaskpackError], tmp_path: Path) -> None:
    body = f"print('a warning', file=sys.stderr); print('error: because of this', file=sys.stderr); sys.exit({code})"
    with pytest.raises(error, match="because of this") as raised:
        judge(_harness(tmp_path, body), [], print)
    assert raised.value.exit_code == code


@pytest.mark.parametrize("body", ["sys.exit(70)", "raise RuntimeError('lost')", "os.kill(os.getpid(), 9)", "sys.exit(0)"])
def test_an_end_that_must_not_be_is_a_bug(body: str, tmp_path: Path) -> None:
    with pytest.raises(HarnessError):
        judge(_harness(tmp_path, body), [], print)


def test_an_interrupted_harness_interrupts(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        judge(_harness(tmp_path, "sys.exit(130)"), [], print)


def test_a_harness_does_not_outlive_its_listener(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    body = f"open({str(pid)!r}, 'w').write(str(os.getpid())); note('note', text='x'); import time; time.sleep(600)"

    def listen(event: dict[str, Any]) -> None:
        raise TaskpackError("enough")

    with pytest.raises(TaskpackError, match="enough"):
        judge(_harness(tmp_path, body), [], listen)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_ctrl_c_reaches_both(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    harness = _harness(tmp_path, f"open({str(pid)!r}, 'w').write(str(os.getpid())); note('note', text='x'); import time; time.sleep(600)")
    script = f"import sys\nfrom pathlib import Path\nfrom taskpack.runs.judging import judge\njudge(Path({str(harness)!r}), [], lambda e: print(e, flush=True))"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    assert process.stdout
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    process.wait(30)
    process.stdout.close()
    time.sleep(0.05)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
