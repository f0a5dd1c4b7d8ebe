"""The judge's memory as a worker sees it, and the device that it is on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from .memory import Layout, Mapping, home


@dataclass
class Shared:
    """One tensor argument's memory, and its copy on a device that does not share its own."""

    mapping: Mapping
    role: str
    copies: list[torch.Tensor] = field(default_factory=list)

    def tensor(self, index: int) -> torch.Tensor:
        """What all sets share has one."""
        index = min(index, self.mapping.layout.sets - 1)
        return self.copies[index] if self.copies else self.mapping.tensor(index)

    def upload(self, sets: int) -> None:
        for index in range(min(sets, self.mapping.layout.sets)):
            self.copies[index].copy_(self.mapping.tensor(index))

    def download(self, sets: int) -> None:
        for index in range(sets):
            self.mapping.tensor(index).copy_(self.copies[index])


def map_memory(request: dict[str, Any], descriptors: list[int], device: str) -> dict[str, Shared]:
    """The memory of a `bind` request: `tensors` lists {name, role, layout, writable} in the order of the descriptors."""
    shared: dict[str, Shared] = {}
    for entry, descriptor in zip(request["tensors"], descriptors, strict=True):
        mapping = Mapping(descriptor, Layout.from_dict(entry["layout"]), entry["writable"])
        one = Shared(mapping, entry["role"])
        if home(device) != device:
            one.copies = [mapping.tensor(index).to(torch_device(device)) for index in range(mapping.layout.sets)]
        shared[entry["name"]] = one
    return shared


def torch_device(device: str) -> str:
    return "cuda" if device == "hip" else device


def stream(device: str) -> int | None:
    if device in ("cuda", "hip"):
        return int(torch.cuda.current_stream().cuda_stream)
    return int(torch.xpu.current_stream().sycl_queue) if device == "xpu" else None


def synchronize(device: str) -> None:
    if device in ("cuda", "hip"):
        torch.cuda.synchronize()
    elif device == "xpu":
        torch.xpu.synchronize()
