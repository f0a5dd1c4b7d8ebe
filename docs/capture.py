"""Runs the sessions that documents show and writes down what was really said: `python docs/capture.py README.md …`.

In every block ```console each line `$ command` is run again, all of a page in one folder for it alone, and what follows it is replaced by what it prints on
stdout. The folder holds `packs`, as the checkout does. Not for `walk.md`, which shows parts: `tests/test_walk.py` compares them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
_MARK = "--- ran, in "


def capture(page: Path) -> None:
    """Rewrites the blocks of one page."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "packs").symlink_to(ROOT / "packs")
        where = [here]
        text = _BLOCK.sub(lambda block: block[1] + _again(block[2], where) + block[3], page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8", newline="\n")


def _again(block: str, where: list[Path]) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    return "\n\n".join(f"$ {command}\n{run(command, where)}".rstrip() for command in commands) + "\n"


def run(command: str, where: list[Path]) -> str:
    """What it prints; a `cd` in it holds for the next command."""
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "110"}
    done = subprocess.run(["bash", "-c", f"{command}\necho '{_MARK}'$PWD"], cwd=where[-1], env=env, stdout=subprocess.PIPE, text=True, check=True)
    said, _, folder = done.stdout.rpartition(_MARK)
    where.append(Path(folder.strip()))
    return said


if __name__ == "__main__":
    for name in sys.argv[1:]:
        capture(Path(name))
