"""The kind `target`: a device, how to recognise it, its limits and its peak rates, each number with its source."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from .header import PackFile, PackName, Text, Words, pattern, spelled

URL = r"^https?://"
DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
LIMITS = {
    "warp-size": "threads",
    "max-threads-per-block": "threads",
    "max-threads-per-unit": "threads",
    "max-warps-per-block": "warps",
    "compute-units": "units",
    "shared-memory-bytes": "bytes",
    "shared-memory-per-unit-bytes": "bytes",
    "registers-per-thread": "registers",
    "registers-per-unit": "registers",
    "register-bytes": "bytes",
    "l1-bytes": "bytes",
    "l2-bytes": "bytes",
    "l3-bytes": "bytes",
    "memory-bytes": "bytes",
    "max-grid-x": "blocks",
    "max-grid-y": "blocks",
    "max-grid-z": "blocks",
    "clock-hz": "Hz",
}
"""Names of limits that taskpack knows, with their unit; others may be added."""
PEAKS = ("bandwidth", "float64", "float32", "tf32", "float16", "bfloat16", "float8", "float4", "int8", "float64-matrix", "float32-matrix")
"""Names of rates that taskpack knows; others may be added."""


class Recognise(Words):
    """`[target.recognise]`: a device is the target if every key that is given fits it."""

    name_contains: tuple[Text, ...] = ()
    """One of these stands in the device's name, whatever its case."""
    gcn_arch: tuple[Text, ...] = ()
    """The AMD architecture is one of these, such as `gfx942`."""
    compute_capability: tuple[Text, ...] = ()
    """The NVIDIA compute capability is one of these, such as `9.0`."""


class Origin(Words):
    """`[target.sources.<id>]`: where numbers come from."""

    title: Text
    """The document, with its version or revision."""
    url: Annotated[str, spelled(re.compile(URL).match, "P014", "`{text}` is no address", "https://…"), pattern(URL)]
    """Where it can be read."""
    date: Annotated[str, spelled(dt.date.fromisoformat, "P014", "`{text}` is no day", "`2026-01-31`"), pattern(DAY)]
    """The day on which it was read, `2026-01-31`."""


class Quantity(Words):
    """A number with its unit and its source."""

    value: Annotated[int | float, Field(gt=0)]
    """The number, in `unit`."""
    unit: Text
    """`bytes`, `threads`, `bytes/s`, `flop/s`, …"""
    source: Text
    """A key of `[target.sources]`."""


class Target(Words):
    """`[target]`: a device."""

    vendor: Text
    """`amd`, `nvidia`, `intel`, …; `any` where it does not matter."""
    device: Literal["cpu", "cuda", "hip", "xpu"]
    """How torch reaches it (`hip` is torch's `cuda` in a ROCm build)."""
    architecture: Text
    """What compilers call it: `gfx942`, `sm_90`, `x86-64`, …"""
    knowledge: tuple[PackName, ...] = ()
    """Packs with rules about code on this device; each stands in `[pack.dependencies]`."""
    recognise: Recognise = Recognise.model_construct()
    """How to recognise the device; a CPU needs nothing."""
    sources: Mapping[str, Origin] = Field(default_factory=dict)
    """Where the numbers come from."""
    limits: Mapping[str, Quantity] = Field(default_factory=dict)
    """Sizes and counts that a kernel cannot exceed."""
    peak: Mapping[str, Quantity] = Field(default_factory=dict)
    """The highest rates: `bandwidth` in bytes/s, and flop/s by dtype."""


class TargetPack(PackFile):
    """A pack of the kind `target`."""

    target: Target
