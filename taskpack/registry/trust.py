"""Whose code runs without walls: one's own, what ships, and what somebody has said to trust; a pack of an index is a stranger."""

from __future__ import annotations

from pathlib import Path

from taskpack import resources

from .installed import is_installed


def must_be_walled(folder: Path, *, is_trusting: bool) -> bool:
    """Whether nothing of the pack may run outside of namespaces; where `is_trusting`, that is remembered for its content."""
    if not is_installed(folder):
        return False
    mark = resources.cache() / "trusted" / folder.resolve().name
    if is_trusting:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return not mark.exists()
