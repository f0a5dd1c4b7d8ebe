"""The languages as a table: which module implements each, and how it runs on each kind of device."""

from __future__ import annotations

import importlib
from typing import cast

from ..contract import Language

EXECUTION: dict[str, dict[str, str]] = {
    "torch": {"cpu": "native", "cuda": "native", "hip": "native", "xpu": "native"},
    "module": {"cpu": "native", "cuda": "native", "hip": "native", "xpu": "native"},
    "cpp": {"cpu": "native"},
    "triton": {"cpu": "interpreted", "cuda": "native", "hip": "native", "xpu": "native"},
    "hip": {"cpu": "emulated", "cuda": "native", "hip": "native"},
}
"""language → device → native, emulated or interpreted. Only native time is speed."""

C_ABI = frozenset({"cpp", "hip", "cuda"})
"""Languages whose entries are extern "C" symbols with raw pointers; the others are Python functions."""


def language(name: str) -> Language:
    """The back end's module; raises KeyError for a name that is not in the table."""
    if name not in EXECUTION:
        raise KeyError(name)
    return cast(Language, importlib.import_module(f".{name}", __package__))
