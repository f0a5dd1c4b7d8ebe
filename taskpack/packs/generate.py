"""Rewrites what is made from the models: `python -m taskpack.packs.generate [CHECKOUT]`, which `make generate` calls."""

from __future__ import annotations

import sys
from pathlib import Path

from taskpack import resources

from .reference_pages import write_pages
from .rulebook import FILE, write_rules
from .schema import write_schemas


def generate(checkout: Path) -> None:
    """Writes `schemas/`, the pages on packs in `docs/reference/` and the rules that ship, below the root of a checkout."""
    write_schemas(checkout / "schemas")
    write_rules(checkout / "packs" / "knowledge" / FILE)
    write_pages(checkout / "docs" / "reference", checkout / "tests" / "bad")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else resources.schemas().parent)
