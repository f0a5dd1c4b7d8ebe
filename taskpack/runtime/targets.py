"""Whether the device and the tools that a harness was compiled for are in this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .languages import EXECUTION, language


class Absent(Exception):
    """They are not; says what is missing and what would mend it."""


def require(target: dict[str, Any], languages: Iterable[str]) -> None:
    """Raises Absent. Asks the device's driver, so the warm parent must have been forked before."""
    device = target["device"]
    for name in dict.fromkeys(languages):
        if device not in EXECUTION.get(name, {}):
            raise Absent(f"{name} cannot run on {device}")
        if why := language(name).missing(device):
            raise Absent(why)
    if device in ("cuda", "hip"):
        _require_gpu(target)
    elif device == "xpu":
        if not torch.xpu.is_available():
            raise Absent(f"{target['name']}: torch {torch.__version__} finds no Intel GPU")
        _require_name(target, torch.xpu.get_device_name(0))


def _require_name(target: dict[str, Any], found: str) -> None:
    names = target["recognise"].get("name-contains", [])
    if names and not any(part.lower() in found.lower() for part in names):
        raise Absent(f"{target['name']}: this GPU is {found}, not one named {' or '.join(names)}")


def _require_gpu(target: dict[str, Any]) -> None:
    if not torch.cuda.is_available():
        raise Absent(f"{target['name']}: torch {torch.__version__} finds no GPU")
    found = torch.cuda.get_device_properties(0)
    wanted = target["recognise"]
    capability = f"{found.major}.{found.minor}"
    architecture = getattr(found, "gcnArchName", "")
    _require_name(target, found.name)
    if target["device"] == "cuda" and capability not in wanted.get("compute-capability", [capability]):
        raise Absent(f"{target['name']}: {found.name} has compute capability {capability}, not {' or '.join(wanted['compute-capability'])}")
    if target["device"] == "hip" and architecture.partition(":")[0] not in wanted.get("gcn-arch", [architecture.partition(":")[0]]):
        raise Absent(f"{target['name']}: {found.name} is {architecture}, not {' or '.join(wanted['gcn-arch'])}")
