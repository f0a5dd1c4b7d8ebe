"""Runs of `taskpack optimize` as processes, and candidates to propose."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

PACKS = Path(__file__).parents[2] / "packs" / "arena"
needs_compiler = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs g++ or clang++")


def taskpack(cwd: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "taskpack", *words], cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def optimize(cwd: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return taskpack(cwd, "optimize", *words, **environment)


def run_of(cwd: Path) -> Path:
    (found,) = (cwd / ".taskpack" / "runs").iterdir()
    return found


def tree_of(cwd: Path) -> dict[str, Any]:
    """Stage → what `taskpack trials --json` says of it."""
    done = taskpack(cwd, "trials", str(run_of(cwd)), "--json")
    assert done.returncode == 0, done.stderr
    return {stage["stage"]: stage for stage in json.loads(done.stdout)["stages"]}


def outcomes(stage: Mapping[str, Any]) -> list[str]:
    return [trial["outcome"] for trial in stage["trials"]]


def write_proposals(folder: Path, file: str, script: Mapping[str, list[str]]) -> Path:
    """`<stage>/<round>/<file>` with those texts."""
    for stage, texts in script.items():
        for number, text in enumerate(texts, start=1):
            made = folder / stage / f"{number:02}"
            made.mkdir(parents=True)
            (made / file).write_text(text, encoding="utf-8")
    return folder
