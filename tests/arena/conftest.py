"""A task that is quick to judge, a suite of it, and agents, as folders of packs."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from taskpack.arena.briefing import Briefing, brief
from taskpack.arena.suite import Plan, plan_suite
from taskpack.arena.workspace import Workspace, make_workspace
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import open_shelf

HEAD = 'format = 1\n\n[pack]\nkind = "{kind}"\nname = "{name}"\nversion = "0.1.0"\nsummary = "For tests"\nlicense = "Apache-2.0"\n'
TASK = """
[task.baseline]
language = "cpp"
files = ["kernel.cpp"]
entry = "scale_{T}"
arguments = ["x", "y", "rows", "cols"]

[task.candidate]
files = ["kernel.cpp"]

[task.limits]
call-s = 2

[op]
reference = "reference.py:scale"
constraints = ["rows > 0"]

[op.dims]
rows = "number of rows"
cols = "row length"

[op.dtypes]
T = ["float32"]

[[op.input]]
name = "x"
shape = ["rows", "cols"]
dtype = "T"
init = { normal = { std = 3.0 } }

[[op.output]]
name = "y"
shape = ["rows", "cols"]
dtype = "T"

[[op.case]]
id = "square"
scale = "small"
rows = 64
cols = 256
T = "float32"

[[op.unseen]]
scale = "small"
rows = { range = [3, 91] }
cols = { choice = [1, 7, 33] }
T = "float32"
"""
REFERENCE = "def scale(x):\n    thrice_the_secret = 3.0 * x\n    return thrice_the_secret\n"
SIGNATURE = 'extern "C" void scale_float32(const float* x, float* y, long rows, long cols)'
BASELINE = f"#include <cmath>\n{SIGNATURE} {{ for (long i = 0; i < rows * cols; ++i) y[i] = 3.0f * std::cbrt(x[i]) * std::cbrt(x[i]) * std::cbrt(x[i]); }}\n"
FASTER = f"{SIGNATURE} {{ for (long i = 0; i < rows * cols; ++i) y[i] = 3.0f * x[i]; }}\n"


def write_task(root: Path, name: str) -> Path:
    """The task `local/<name>` below a root of packs."""
    folder = root / "local" / name
    folder.mkdir(parents=True)
    (folder / "pack.toml").write_text(HEAD.format(kind="task", name=f"local/{name}") + TASK)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "kernel.cpp").write_text(BASELINE)
    return folder


def write_suite(root: Path, tasks: list[str], attempts: int = 1) -> Path:
    folder = root / "local" / "suite"
    folder.mkdir(parents=True)
    dependencies = "".join(f'"local/{task}" = "*"\n' for task in tasks)
    names = json.dumps([f"local/{task}" for task in tasks])
    body = f'\n[pack.dependencies]\n{dependencies}\n[suite]\ntasks = {names}\nattempts = {attempts}\n\n[suite.score]\npolicy = "arena"\n'
    (folder / "pack.toml").write_text(HEAD.format(kind="suite", name="local/suite") + body)
    return folder


def write_agent(root: Path, body: str, dependencies: str = "") -> Path:
    folder = root / "local" / "agent"
    folder.mkdir(parents=True)
    (folder / "pack.toml").write_text(HEAD.format(kind="agent", name="local/agent") + dependencies + body)
    return folder


def write_replay(root: Path, candidates: Mapping[str, str]) -> Path:
    """An agent that replays the candidates, task → kernel.cpp."""
    dependencies = "\n[pack.dependencies]\n" + "".join(f'"local/{task}" = "*"\n' for task in candidates)
    table = "".join(f'"local/{task}" = "for-{task}"\n' for task in candidates)
    folder = write_agent(root, f'\n[agent]\nlaunch = "replay"\n\n[agent.replay.candidates]\n{table}', dependencies)
    for task, source in candidates.items():
        (folder / f"for-{task}").mkdir()
        (folder / f"for-{task}" / "kernel.cpp").write_text(source)
    return folder


def plan_here(root: Path, harness: Path) -> Plan:
    """The suite and agent below a root, with a harness that is never built."""
    shelf = open_shelf([root])

    def prepare(task: Path) -> tuple[Path, Briefing, tuple[str, ...]]:
        return harness, brief(task, "targets/cpu", shelf), ("--walled",)

    return plan_suite(load_pack(root / "local" / "suite"), load_pack(root / "local" / "agent"), shelf, "targets/cpu", prepare, is_quick=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Callable[[], Workspace]:
    """A workspace of the task, in a folder whose path is short enough for a socket."""
    root = tmp_path / "packs"
    briefing = brief(write_task(root, "scale"), "targets/cpu", open_shelf([root]))
    numbers = iter(range(100))
    return lambda: make_workspace(tmp_path / f"w{next(numbers)}", briefing)
