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


@pytest.fixture
def taskpack(tmp_path: Path) -> Taskpack:
    """`taskpack("check", "packs", cwd=…)`; HOME is empty, and what is written there fails the test."""
    home = tmp_path / "home"
    home.mkdir()

    def run(*words: str | Path, cwd: Path = tmp_path, **environment: str) -> Ran:
        env = os.environ | {"HOME": str(home), "COLUMNS": "100"} | environment
        env.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
        done = subprocess.run(
            [sys.executable, "-m", "taskpack", *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL
        )
        assert not list(home.iterdir()), "something was left in HOME"
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
