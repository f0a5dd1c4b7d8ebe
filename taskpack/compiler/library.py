"""A module task meets the library that is installed where it is built: its class must be the one that the pack describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from taskpack.errors import IntegrityError, TargetAbsent, UsageError
from taskpack.runtime import library, signature

from .plan import Module


def hold_to_library(module: Module, pack: str) -> None:
    """Raises TargetAbsent where the library is missing, IntegrityError where its class has drifted, UsageError where the pack's signatures are not its."""
    facts: Mapping[str, Any] = asdict(module)
    try:
        library.require(facts)
        found = library.signatures(module.target)
    except library.Missing as error:
        raise TargetAbsent(str(error), hint="`taskpack check` works without it") from None
    except library.Drifted as error:
        raise IntegrityError(f"`{pack}`: {error}") from None
    for key, declared in (("constructor", module.constructor), ("forward", module.forward)):
        if key in found and found[key] != declared:
            raise UsageError(f'`{pack}` says `{key} = "{signature.show(declared)}"`, and the library\'s class has `{signature.show(found[key])}`')
