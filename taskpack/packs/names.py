"""What packs, versions and the things inside a pack may be called."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from .grammar import FUNCTIONS

FILE = "pack.toml"
"""What makes a folder a pack."""
PACK_NAME = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*/[a-z][a-z0-9]*(-[a-z0-9]+)*$"
"""`namespace/name`."""
PART_LENGTH = 64
"""The longest namespace or name."""
IDENTIFIER = r"^[A-Za-z][A-Za-z0-9_]*$"
"""Dimensions, tensors, …: they become Python parameters and C arguments."""
CASE_ID = r"^[a-z0-9]+([-.][a-z0-9]+)*$"
FUNCTION = r"^[A-Za-z0-9_./-]+\.py:[A-Za-z_][A-Za-z0-9_]*$"
"""`file.py:function`."""
CLASS = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$"
"""`package.module:Class`."""
FINGERPRINT = r"^sha256:[0-9a-f]{64}$"
STATE_KEY = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$"
"""A key of a `state_dict`."""

FLOATING = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
DTYPES = (*FLOATING, *INTEGERS, "bool")
RESERVED_DTYPES = ("float8_e4m3fn", "float8_e5m2")
"""Known to the runtime's sizes; no judge compares them yet."""

_KEYS = ("id", "scale", "count", "stream", "name", "tensors", "self")

RESERVED = frozenset((*keyword.kwlist, *FUNCTIONS, *(function.python for function in FUNCTIONS.values()), *_KEYS, *DTYPES, *RESERVED_DTYPES))
"""Identifiers with a meaning of their own: Python's keywords, keys of a case, functions of expressions, dtypes."""


def is_pack_name(text: str) -> bool:
    """Whether `text` is `namespace/name`, each part at most 64 characters."""
    return bool(re.match(PACK_NAME, text)) and text.isascii() and "\n" not in text and all(len(part) <= PART_LENGTH for part in text.split("/"))


def read_name(folder: Path) -> str | None:
    """What the pack in `folder` calls itself, without checking it; None where that cannot be read."""
    import tomli

    try:
        raw = tomli.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    header = raw.get("pack")
    name = header.get("name") if isinstance(header, dict) else None
    return name if isinstance(name, str) else None


def is_case_id(text: str) -> bool:
    """Whether `text` is the id of a case, or the name of an example."""
    return bool(re.fullmatch(CASE_ID.strip("^$"), text)) and len(text) <= PART_LENGTH


def is_identifier(text: str) -> bool:
    """Whether `text` has the form of a name inside a pack (it may still be a reserved one)."""
    return bool(re.fullmatch(IDENTIFIER.strip("^$"), text))
