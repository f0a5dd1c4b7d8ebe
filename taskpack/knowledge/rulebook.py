"""The rules of a target: those that ship from one generated file, without loading a pack; those of other packs by loading them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from taskpack import resources
from taskpack.errors import UsageError
from taskpack.packs.shelf import Shelf


@dataclass(frozen=True)
class Rulebook:
    """What applies to code on a target."""

    target: str
    rules: tuple[Mapping[str, Any], ...]
    facts: Mapping[str, Any]
    """Of the device."""

    def of(self, language: str) -> list[Mapping[str, Any]]:
        """The rules for a language."""
        return [rule for rule in self.rules if language in rule["languages"]]


def open_rulebook(target: str, shelf: Shelf) -> Rulebook:
    """The rules for the target pack of that name. Raises UsageError for a pack of another kind, and what loading a pack raises."""
    shipped = resources.shipped_packs()
    if shelf.find(target) == shipped / target:
        said = json.loads((shipped / "knowledge" / "rules.json").read_text(encoding="utf-8"))
        if target in said["targets"]:
            entry = said["targets"][target]
            return Rulebook(target, tuple(said["rules"][name] for name in entry["rules"]), entry["facts"])
    return _load(target, shelf)


def _load(target: str, shelf: Shelf) -> Rulebook:
    # Late: pydantic takes longer to start than all the rest.
    from taskpack.packs.rulebook import rules_for
    from taskpack.packs.rules import facts_of
    from taskpack.packs.target import TargetPack

    found = shelf.fetch(target)
    if not isinstance(found.document, TargetPack):
        raise UsageError(f"`{target}` is of the kind `{found.kind}`, not a target")
    rules = sorted(rules_for(found.document, shelf), key=lambda rule: str(rule["rule"]))
    return Rulebook(target, tuple(rules), facts_of(found.document.target))
