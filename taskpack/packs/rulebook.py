"""The rules that a target's packs of knowledge hold; for those that ship, one file, so that lint need load no pack."""

from __future__ import annotations

import json
from pathlib import Path

from taskpack import resources

from .knowledge import KnowledgePack
from .rules import compile_rules, facts_of
from .shelf import Shelf
from .target import TargetPack

FILE = "rules.json"
"""Beside the knowledge packs that ship: their rules, as lint reads them."""


def shipped_rules(shelf: Shelf) -> dict[str, object]:
    """Every target on a shelf with its facts and the names of its rules, and the rules by name: what lint reads instead of packs."""
    rules: dict[str, dict[str, object]] = {}
    targets = {}
    for name in shelf.names():
        document = shelf.fetch(name).document if name.startswith("targets/") else None
        if isinstance(document, TargetPack):
            found = {str(rule["rule"]): rule for rule in rules_for(document, shelf)}
            rules |= found
            targets[name] = {"facts": facts_of(document.target), "rules": sorted(found)}
    return {"format": 1, "rules": rules, "targets": targets}


def rules_for(pack: TargetPack, shelf: Shelf, language: str | None = None) -> list[dict[str, object]]:
    """The rules of all packs that a target names. Raises NotFound, and PackInvalid for a pack with mistakes."""
    found: list[dict[str, object]] = []
    for name in pack.target.knowledge:
        document = shelf.fetch(name, pack.pack.dependencies[name]).document
        assert isinstance(document, KnowledgePack), "a target that was checked names packs of rules"
        found += compile_rules(name, document.knowledge, pack.target, language)
    return found


def write_rules(path: Path) -> None:
    """Writes the rules that ship, for lint; `path` is in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(shipped_rules(Shelf((resources.shipped_packs(),))), indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
