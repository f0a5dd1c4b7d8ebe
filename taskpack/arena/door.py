"""The door between a workspace and the judge: whoever knocks is told what compile and correct say of the files that lie there now."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from taskpack.errors import TaskpackError
from taskpack.runs.judging import HarnessError, judge

from .workspace import DOOR, Workspace, take_candidate, write_files

Ask = Callable[[], str]
SHOWN = ("compile", "rules", "interface", "state-dict", "correct")
"""The gates of which an agent hears: those that look at the source and at seen cases."""
_MOST_LOG = 16_000
_PATIENCE_S = 1.0


class _Enough(Exception):
    """Correct has passed: what comes next is none of the agent's business."""


def ask_judge(harness: Path, workspace: Workspace, words: Sequence[str] = ()) -> str:
    """`pass` or `fail` on a line of its own, a line a gate, and what is wrong: of the seen cases only."""
    gates: list[dict[str, Any]] = []

    def listen(event: Mapping[str, Any]) -> None:
        if event["event"] == "gate" and event["gate"] in SHOWN:
            gates.append(dict(event))
            if event["gate"] == "correct" and event["verdict"] == "pass":
                raise _Enough

    with tempfile.TemporaryDirectory(prefix="taskpack-check-") as folder:
        write_files(Path(folder), take_candidate(workspace))
        try:
            result, _ = judge(harness, ["--candidate", folder, *words], listen)
        except _Enough:
            return _told("pass", gates)
        except (TaskpackError, HarnessError) as error:
            return f"fail\nthe judge could not judge: {error}\n"
    failed = [case["reason"] for case in result["cases"] if case["gate"] == "correct" and case["verdict"] == "fail"]
    more = [reason for reason in dict.fromkeys(failed) if not any(reason in gate["reason"] for gate in gates)]
    return _told("fail", gates, [*more, result["testimony"].get("log", "")[:_MOST_LOG]])


def _told(verdict: str, gates: list[dict[str, Any]], more: list[str] | None = None) -> str:
    lines = [f"{gate['gate']}: {gate['verdict']}{': ' + gate['reason'] if gate['reason'] else ''}" for gate in gates]
    return "\n".join([verdict, *lines, *(words for words in more or () if words)]) + "\n"


@contextmanager
def open_door(workspace: Workspace, ask: Ask) -> Iterator[list[str]]:
    """Answers at `.door` in the workspace, one at a time, while the block lasts; the list holds the first line of every answer that was given."""
    answers: list[str] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(workspace.folder / DOOR))
        listener.listen()
        listener.settimeout(0.1)
        closed = threading.Event()
        keeper = threading.Thread(target=_answer, args=(listener, ask, closed, answers), daemon=True)
        keeper.start()
        try:
            yield answers
        finally:
            closed.set()
            keeper.join()


def _answer(listener: socket.socket, ask: Ask, closed: threading.Event, answers: list[str]) -> None:
    while not closed.is_set():
        try:
            visitor, _ = listener.accept()
        except TimeoutError:
            continue
        with visitor, suppress(OSError):  # a visitor that has gone is answered no more
            visitor.settimeout(_PATIENCE_S)
            visitor.recv(1)
            answer = ask()
            answers.append(answer.partition("\n")[0])
            visitor.settimeout(_PATIENCE_S)
            visitor.sendall(answer.encode())
