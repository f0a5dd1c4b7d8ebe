"""The command as a user types it: a process of its own, in a folder of the test's."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKS = Path(__file__).parents[2] / "packs"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Taskpack = Callable[..., Ran]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def taskpack(tmp_path: Path, home: Path) -> Taskpack:
    """`taskpack("check", "packs", cwd=…)`; HOME is a folder of the tests', in which nothing but taskpack's own cache may appear."""

    def run(*words: str | Path, cwd: Path = tmp_path, **environment: str) -> Ran:
        env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"HOME": str(home), "COLUMNS": "100"} | environment
        command = [sys.executable, "-m", "taskpack", *map(str, words)]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL)
        left = {path.relative_to(home).as_posix() for path in home.glob("*/*")} | {path.name for path in home.iterdir() if path.name != ".cache"}
        assert left <= {".cache/taskpack"}, "something was left in HOME"
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
