"""A worker, a real process with children of its own, runs while it is asked something, and at no other time."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

# The zygote must be forked by a process that has done nothing with torch, so each test is a program of its own.
HEAD = """
import os, signal, sys, time
from pathlib import Path
from taskpack.runtime import isolation, zygote
from taskpack.runtime.domains import Allowance, Pause, Worker, WorkerFailed

root = Path(sys.argv[1])
parent = zygote.start(root, (), ("torch",), "cpu", lambda: None)
scratch = root / "candidate"
(scratch / "source").mkdir(parents=True)
(scratch / "source" / "kernel.py").write_text(SOURCE)
worker = Worker(parent.spawn("candidate", scratch, 4096), Allowance(4096, 4))
side = {"language": "torch", "files": ["kernel.py"], "entry": "run", "style": "destination"}
worker.ask("build", 60, device="cpu", warp_size=32, swaps=[], cache=str(scratch), **side)
processes = lambda: isolation.descendants(worker.process.keeper)
ran = lambda: sum(int(words.split()[0]) for each in processes() for _, words in isolation.threads(each, "schedstat"))
states = lambda: {words[words.rindex(b")") + 2 :][:1] for each in processes() for _, words in isolation.threads(each, "stat")}

def call():
    worker.ask("bind", 10, binding=1, sets=1, tensors=[], arguments=[], dtypes={}, returns=[], values={}, module=None)
    return lambda pause=None: worker.ask("call", 10, pause=pause, binding=1, count=1, graph=False, ordered=False)
"""

SPINS = """
import os, threading, time
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
if os.fork() == 0:
    os.setsid()
    spin()
def run():
    ends = time.process_time() + 0.2
    while time.process_time() < ends:
        pass
"""

BUSY = """
import time
def run():
    ends = time.process_time() + 0.3
    while time.process_time() < ends:
        pass
"""


def run(source: str, body: str, tmp_path: Path) -> str:
    program = f"SOURCE = {source!r}\n{HEAD}\ntry:\n{textwrap.indent(textwrap.dedent(body), '    ')}\nfinally:\n    worker.close()\n    parent.close()\n"
    (tmp_path / "root").mkdir()
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "root")], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_runs_between_two_requests(tmp_path: Path) -> None:
    body = """
    worker.ask("load", 10)
    before = ran()
    print(len(processes()), states() <= {b"T"})
    time.sleep(0.3)
    print((ran() - before) / 1e9)
    call()()
    print((ran() - before) / 1e9)
    """
    counted, idle, busy = run(SPINS, body, tmp_path).split("\n")
    count, are_stopped = counted.split()
    assert int(count) >= 2  # the child that left the session as well
    assert are_stopped == "True"
    assert float(idle) < 0.001
    assert float(busy) > 0.15


def test_who_is_continued_by_another_is_found_out(tmp_path: Path) -> None:
    body = """
    worker.ask("load", 10)
    again = call()
    for each in processes():
        os.kill(each, signal.SIGCONT)
    time.sleep(0.1)
    try:
        again()
    except WorkerFailed as failed:
        print(failed.reason)
    """
    assert run(SPINS, body, tmp_path) == "went on working while it was not asked anything"


def test_a_pause_says_what_part_of_the_work_was_done(tmp_path: Path) -> None:
    body = """
    worker.ask("load", 10)
    again = call()
    again()
    before, looked = ran(), []
    def look():
        looked.append(ran())
        time.sleep(0.2)
        looked.append(ran())
    pause = Pause(0.1, look)
    again(pause)
    print(pause.part, (looked[0] - before) / 1e9, (looked[1] - looked[0]) / 1e9, worker.took_s)
    late = Pause(5.0, look)
    again(late)
    print(late.part, len(looked))
    """
    first, second = run(BUSY, body, tmp_path).split("\n")
    part, before, during, took = (float(word) for word in first.split())
    assert part == pytest.approx(before / 0.3, abs=0.1)
    assert 0.0 < part < 0.7
    assert during < 0.001
    assert took > 0.5  # the pause is in it
    assert second == "None 2"
