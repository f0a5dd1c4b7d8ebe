"""Under which conditions a case was timed: clocks, temperature and limits of the device, load of the processor, and memory beside its last-level cache."""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

_SLOWED = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal slowdown by software",
    0x40: "thermal slowdown by hardware",
    0x80: "power brake",
}
"""Bits of nvmlDeviceGetCurrentClocksEventReasons, by nvml.h; the others (idle, clocks that somebody set) are no throttling."""
_CPU = Path("/sys/devices/system/cpu")


def sample(device: str) -> dict[str, Any]:
    """The state of the device at this moment.

    An NVIDIA GPU: `sm_mhz`, `memory_mhz`, `temperature_c`, `power_w`, and `slowed_by`, a list of reasons. A CPU: `load`, the mean number of processes that
    ran or wanted to in the last minute, and `mhz`, the median of its cores. What cannot be read is left out; `unread` says what a GPU lacks for it.
    """
    if device == "cuda":
        return _nvidia()
    if device != "cpu":
        return {"unread": f"no clocks are read of {device} devices"}
    clocks = [int(text) / 1000 for path in _CPU.glob("cpu[0-9]*/cpufreq/scaling_cur_freq") if (text := _read(path)).isdigit()]
    return {"load": round(os.getloadavg()[0], 2), **({"mhz": round(statistics.median(clocks))} if clocks else {})}


def describe(device: str, set_bytes: int, before: dict[str, Any]) -> dict[str, Any]:
    """For the evidence: the bytes of the input sets and outputs of one long pass, those of the last-level cache, and the device before and after."""
    known = {"set_bytes": set_bytes, "cache_bytes": cache_bytes(device), "before": before, "after": sample(device)}
    return {key: value for key, value in known.items() if value is not None}


def cache_bytes(device: str) -> int | None:
    """Of the last-level cache, or None where it cannot be known."""
    if device == "cpu":
        sizes = [re.fullmatch(r"(\d+)([KMG]?)", _read(path)) for path in (_CPU / "cpu0/cache").glob("index*/size")]
        return max((int(size[1]) << " KMG".index(size[2] or " ") * 10 for size in sizes if size), default=None)
    found: int | None = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", None) if torch.cuda.is_available() else None
    return found


def _nvidia() -> dict[str, Any]:
    try:
        import pynvml
    except ImportError:
        return {"unread": "pip install nvidia-ml-py"}
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(0).uuid}")
    except (pynvml.NVMLError, AttributeError) as error:
        return {"unread": str(error)}
    questions: dict[str, Callable[[], Any]] = {
        "sm_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
        "memory_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
        "temperature_c": lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        "power_w": lambda: round(pynvml.nvmlDeviceGetPowerUsage(handle) / 1000),
        "slowed_by": lambda: _words(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle)),
    }
    state = {}
    for name, ask in questions.items():
        with suppress(pynvml.NVMLError):
            state[name] = ask()
    return state


def _words(bits: int) -> list[str]:
    return [words for bit, words in _SLOWED.items() if bits & bit]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
