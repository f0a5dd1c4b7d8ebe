"""Which target a task is built for and judged on: the one that was named, or the device that this machine has."""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.errors import UsageError
from taskpack.packs.shelf import Shelf
from taskpack.packs.suggest import did_you_mean

if TYPE_CHECKING:
    from taskpack.packs.target import Recognise

AUTO = "auto"
CPU = "targets/cpu"
_NAMESPACE = "targets"

_NODES = ("dev/nvidiactl", "dev/kfd", "dev/dri/renderD*")
"""Device files of the drivers; without any there is no need to start torch in order to ask."""

_ASK = """
import json, torch
found = None
if torch.cuda.is_available():
    p = torch.cuda.get_device_properties(0)
    found = {"device": "hip" if torch.version.hip else "cuda", "name": p.name, "arch": getattr(p, "gcnArchName", ""), "capability": f"{p.major}.{p.minor}"}
elif hasattr(torch, "xpu") and torch.xpu.is_available():
    found = {"device": "xpu", "name": torch.xpu.get_device_name(0), "arch": "", "capability": ""}
print(json.dumps(found))
"""


def choose_target(word: str, task: Path, shelf: Shelf) -> str:
    """The name of a target pack for the task in that folder. `auto` is the GPU of this machine where the task's languages run on it, and otherwise the CPU."""
    if word != AUTO:
        return named_target(word, shelf)
    gpu = _find_gpu()
    return _of_gpu(gpu, task, shelf) if gpu else CPU


def named_target(word: str, shelf: Shelf) -> str:
    """The name of the target pack that is meant; raises UsageError where there is none."""
    name = word if "/" in word else f"{_NAMESPACE}/{word}"
    if shelf.find(name) is None:
        short = [each.partition("/")[2] for each in _targets(shelf)]
        raise UsageError(f"there is no target `{word}`", hint=did_you_mean(word, short) or f"targets: {AUTO}, {', '.join(short)}")
    return name


def _targets(shelf: Shelf) -> list[str]:
    return [name for name in shelf.names() if name.startswith(f"{_NAMESPACE}/")]


def _of_gpu(gpu: dict[str, Any], folder: Path, shelf: Shelf) -> str:
    from taskpack.packs.load import load_pack
    from taskpack.packs.target import TargetPack
    from taskpack.packs.task import TaskPack

    task = load_pack(folder).document
    if isinstance(task, TaskPack):
        sides = (task.task.baseline, task.task.candidate.as_side(task.task.baseline))
        if not all(_runs_on(side.language, gpu["device"]) for side in sides):
            return CPU
    for name in _targets(shelf):
        target = shelf.fetch(name).document
        if isinstance(target, TargetPack) and target.target.device == gpu["device"] and _fits(target.target.recognise, gpu):
            return name
    raise UsageError(f"no target describes this machine's {gpu['name']}", hint="judge on the CPU with `--target cpu`, or write a target pack for the device")


def _runs_on(name: str, device: str) -> bool:
    from taskpack.runtime.languages import EXECUTION, language

    return device in EXECUTION.get(name, {}) and language(name).missing(device) is None


@functools.cache
def _find_gpu() -> dict[str, Any] | None:
    """What torch says of the first GPU; asked in a process of its own, for it takes seconds and keeps the device open."""
    if not any(next(Path("/").glob(node), None) for node in _NODES):
        return None
    if importlib.util.find_spec("torch") is None:
        return None  # and nothing can be run on a GPU
    asked = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=False)
    if asked.returncode == 0:
        found: dict[str, Any] | None = json.loads(asked.stdout)
        return found
    why = (asked.stderr.strip().splitlines() or [f"it ended with {asked.returncode}"])[-1]
    click.echo(f"warning: the CPU is taken, as torch cannot say what GPU this machine has: {why}", err=True)
    return None


def _fits(wanted: Recognise, gpu: dict[str, Any]) -> bool:
    names = [part.casefold() in gpu["name"].casefold() for part in wanted.name_contains]
    architectures = [gpu["arch"].split(":")[0] == part for part in wanted.gcn_arch]
    capabilities = [gpu["capability"] == part for part in wanted.compute_capability]
    return all(any(claims) for claims in (names, architectures, capabilities) if claims)
