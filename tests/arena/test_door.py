"""The door of a workspace: what the judge says through it, and what it never says. The harness here is a script that only plays its part."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from taskpack.arena.door import ask_judge, open_door
from taskpack.arena.workspace import Workspace

Make = Callable[[], Workspace]
HARNESS = """
import json, os, sys, time
from pathlib import Path
out = int(sys.argv[sys.argv.index("--events-fd") + 1])
def note(event, **content): os.write(out, json.dumps({"event": event, **content}).encode() + b"\\n")
text = (Path(sys.argv[sys.argv.index("--candidate") + 1]) / "kernel.cpp").read_text()
verdicts = {"compile": "fail" if text == "broken" else "pass"}
if verdicts["compile"] == "pass": verdicts["correct"] = "fail" if text == "wrong" else "pass"
for gate, verdict in verdicts.items(): note("gate", gate=gate, verdict=verdict, reason="a reason" if verdict == "fail" else "", seconds=0)
if "fail" not in verdicts.values():
    time.sleep(0.3)
    Path(__file__).with_name("reached").touch()
case = {"gate": "correct", "verdict": "fail", "reason": "y differs at [3]"}
unseen = {"gate": "general", "verdict": "fail", "reason": "secret sizes"}
note("result", result={"gates": [], "cases": [case, case, {**case, "reason": "another"}, unseen], "testimony": {"log": "what the compiler said"}})
sys.exit(1)
"""


@pytest.fixture
def harness(tmp_path: Path) -> Path:
    path = tmp_path / "harness.py"
    path.write_text(HARNESS)
    return path


def _check(made: Workspace) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, made.folder / "check"], capture_output=True, text=True, cwd="/")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("right", 0, "pass\ncompile: pass\ncorrect: pass\n"),
        ("wrong", 1, "fail\ncompile: pass\ncorrect: fail: a reason\ny differs at [3]\nanother\nwhat the compiler said\n"),
        ("broken", 1, "fail\ncompile: fail: a reason\ny differs at [3]\nanother\nwhat the compiler said\n"),
    ],
)
def test_what_is_told(text: str, code: int, told: str, harness: Path, workspace: Make) -> None:
    made = workspace()
    (made.folder / "kernel.cpp").write_text(text)
    with open_door(made, lambda: ask_judge(harness, made)) as answers:
        checked = _check(made)
    assert (checked.returncode, checked.stdout, checked.stderr) == (code, told, "")
    assert answers == [told.partition("\n")[0]]
    assert not harness.with_name("reached").exists(), "the gate after correct was reached"


def test_it_is_asked_as_often_as_one_likes(harness: Path, workspace: Make) -> None:
    made = workspace()
    with open_door(made, lambda: ask_judge(harness, made)) as answers:
        for text in ("wrong", "right", "broken"):
            (made.folder / "kernel.cpp").write_text(text)
            _check(made)
    assert answers == ["fail", "pass", "fail"]


def test_a_closed_door(harness: Path, workspace: Make) -> None:
    checked = _check(workspace())
    assert checked.returncode == 1
    assert "the judge does not answer" in checked.stderr


def test_a_harness_that_breaks(tmp_path: Path, workspace: Make) -> None:
    (tmp_path / "broken.py").write_text("import sys; sys.exit(70)")
    assert ask_judge(tmp_path / "broken.py", workspace()).startswith("fail\nthe judge could not judge")
