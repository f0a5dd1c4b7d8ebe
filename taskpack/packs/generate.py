"""Rewrites what is made from the models: `python -m taskpack.packs.generate [CHECKOUT]`, which `make generate` calls."""

from __future__ import annotations

import sys
from pathlib import Path

from taskpack import resources

from .reference_pages import write_pages
from .schema import write_schemas


def generate(checkout: Path) -> None:
    """Writes `schemas/` and the pages on packs in `docs/reference/`, below the root of a checkout."""
    write_schemas(checkout / "schemas")
    write_pages(checkout / "docs" / "reference", checkout / "tests" / "bad")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else resources.schemas().parent)
