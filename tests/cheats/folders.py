"""The folders beside this file, and how the naive harness and a real one are asked about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS = ("attacks", "broken", "honest")
GATES = ("compile", "correct", "general", "fast")
LIMITS = {"compile_s": 60, "call_s": 2, "memory_mib": 512, "output_mib": 4}


@dataclass(frozen=True)
class Cheat:
    """One folder: what cheat.toml says, and the candidate's files."""

    kind: str
    name: str
    told: dict[str, Any]
    files: dict[str, str]

    @property
    def language(self) -> str:
        return str(self.told["language"])

    @property
    def style(self) -> str:
        return str(self.told.get("style", "destination"))

    @property
    def stopped_by(self) -> str:
        """A gate, or `none`."""
        return str(self.told["stopped-by"])


def read(kind: str) -> list[Cheat]:
    """All folders of one kind, by name."""
    return [_read(path) for path in sorted((HERE / kind).iterdir()) if (path / "cheat.toml").is_file()]


def _read(folder: Path) -> Cheat:
    told = tomllib.loads((folder / "cheat.toml").read_text(encoding="utf-8"))
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file() and path.name != "cheat.toml"}
    return Cheat(folder.parent.name, folder.name, told, files)


@dataclass(frozen=True)
class Naive:
    """What the naive harness said."""

    is_accepted: bool
    us: float
    baseline_us: float
    output: str


def ask_naive(cheat: Cheat, seconds: float = 60.0) -> Naive:
    """Runs the naive harness on a copy of everything, in folders of its own."""
    with tempfile.TemporaryDirectory(prefix="naive-") as folder:
        harness = Path(folder, "naive.py")
        harness.write_bytes((HERE / "naive.py").read_bytes())
        for name, text in cheat.files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        private = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "TRITON_CACHE_DIR"), folder)
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, **private, "NAIVE_CACHE": str(_cache()), "NAIVE_SEED": "20011", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        file = next(name for name in cheat.files if name.startswith("kernel."))
        command = [sys.executable, "-W", "ignore", str(harness), cheat.language, cheat.style, file]
        with Path(folder, "stdout").open("w+b") as out:  # a file, as what a candidate leaves behind may hold a pipe open
            try:
                code = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=seconds).returncode
            except subprocess.TimeoutExpired:
                code = -1
            finally:
                _clean_up()
            out.seek(0)
            output = out.read().decode(errors="replace")
    times = _times(output)
    return Naive(code == 0, times.get("us", 0.0), times.get("baseline_us", 0.0), output)


def _clean_up() -> None:
    """What attacks leave outside of the private folder, where nothing keeps them in."""
    for folder in ("/tmp", "/dev/shm"):
        for path in Path(folder).glob("redteam-telltale-*"):
            path.unlink(missing_ok=True)


def _times(output: str) -> dict[str, float]:
    """The last line, if it holds an object."""
    lines = output.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def _cache() -> Path:
    """Where a judged run keeps what it made once for HIP on the CPU."""
    base = os.environ.get("TASKPACK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "taskpack")
    return Path(base).absolute() / "runtime"
