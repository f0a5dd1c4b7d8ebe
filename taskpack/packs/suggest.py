"""What an author probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], *, nearness: float = 0.6) -> str:
    """`did you mean …?` with the nearest of the known words; empty where none is near."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=1, cutoff=nearness) or [name for name in names if name.lower() == word.lower()]
    return f"did you mean `{close[0]}`?" if close else ""


def hint_among(word: str, known: Iterable[str], what: str = "known") -> str:
    """As `did_you_mean`, else the list of the known words where that is short enough to help."""
    names = sorted(set(known))
    listed = ", ".join(f"`{name}`" for name in names)
    return did_you_mean(word, names) or (f"{what}: {listed}" if 0 < len(names) <= 16 else "")
