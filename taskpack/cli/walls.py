"""The two options about isolation that every verb has which runs a harness."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.registry.trust import must_be_walled

if TYPE_CHECKING:
    from taskpack.packs.shelf import Shelf

_TRUST = click.option("--trust", is_flag=True, help="Run a pack of an index also where this machine cannot wall it off; remembered for its content.")
_REQUIRE = click.option("--require-isolation", is_flag=True, help="Run nothing, not even packs of one's own, where this machine cannot wall it off.")


@dataclass(frozen=True)
class Walls:
    """What the command line says of them."""

    is_trusting: bool
    is_required: bool

    def words(self, folder: Path, shelf: Shelf) -> list[str]:
        """As the harness of the pack in `folder` wants them."""
        is_stranger = must_be_walled(folder, shelf, is_trusting=self.is_trusting)
        return ["--walled"] if is_stranger or self.is_required else []


def wall_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--trust` and `--require-isolation`, which the command gets as `walls`."""

    @functools.wraps(command)
    def with_walls(*, trust: bool, require_isolation: bool, **others: Any) -> Any:
        return command(**others, walls=Walls(trust, require_isolation))

    return _TRUST(_REQUIRE(with_walls))
