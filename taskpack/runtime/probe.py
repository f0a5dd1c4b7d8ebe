"""What this machine is, for the evidence: processor, memory, kernel, GPUs."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

_FLAGS = frozenset(
    [
        "sse4_2",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "avx512f",
        "avx512_bf16",
        "avx512_fp16",
        "avx512_vnni",
        "avx_vnni",
        "amx_tile",
        "amx_bf16",
        "asimd",
        "sve",
        "sve2",
        "bf16",
    ]
)
"""Those that change which code a compiler or torch chooses for numeric kernels."""


def probe(gpus: bool = True) -> dict[str, Any]:
    """Facts about this machine; a key whose fact cannot be read is left out.

    `cpu` model name, `cores` usable by this process, `flags`, `memory_mib`, `machine`, `kernel`, `governor`, and `gpus`: a list of
    {name, capability, memory_mib} that is asked of torch (this starts the device's driver) unless `gpus` is False.
    """
    info = _cpuinfo()
    facts = {
        "cpu": info.get("model name") or info.get("Model") or platform.processor() or None,
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "flags": sorted(_FLAGS & set((info.get("flags") or info.get("Features") or "").split())),
        "memory_mib": _memory_mib(),
        "kernel": f"{platform.system()} {platform.release()}",
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "gpus": _gpus() if gpus else None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _cpuinfo() -> dict[str, str]:
    """The first processor's lines of /proc/cpuinfo."""
    pairs = (line.split(":", 1) for line in (_read("/proc/cpuinfo") or "").split("\n\n")[0].splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _memory_mib() -> int | None:
    for line in (_read("/proc/meminfo") or "").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return None


def _gpus() -> list[dict[str, Any]]:
    import torch

    if torch.cuda.is_available():
        found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
        # CUDA builds know gcnArchName as well, and give it the device's name.
        is_rocm = torch.version.hip is not None
        return [{"name": p.name, "capability": p.gcnArchName if is_rocm else f"{p.major}.{p.minor}", "memory_mib": p.total_memory >> 20} for p in found]
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        others = [torch.xpu.get_device_properties(i) for i in range(torch.xpu.device_count())]
        return [{"name": p.name, "capability": str(getattr(p, "version", "")), "memory_mib": p.total_memory >> 20} for p in others]
    return []


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None
