"""A proposer whose proposals are there already: `<folder>/<stage>/<round>/`, rounds in the order of their names."""

from __future__ import annotations

from pathlib import Path

from taskpack.errors import UsageError

from .loop import Propose
from .trials import Proposal, Request, text_of


def replay(folder: Path) -> Propose:
    """Proposes what lies in `folder`; a stage without a folder has no proposals. Raises UsageError for a link to another place."""

    def propose(request: Request) -> Proposal | None:
        stage = folder / request.stage.id
        rounds = sorted(path for path in stage.iterdir() if path.is_dir()) if stage.is_dir() else []
        if len(request.history) >= len(rounds):
            return None
        chosen = rounds[len(request.history)]
        found = {name: chosen / name for name in request.best if (chosen / name).is_file()}
        for path in found.values():
            if not path.resolve().is_relative_to(chosen.resolve()):
                raise UsageError(f"{path} is a link that leads out of its proposal", hint="a candidate's files are its own: copy it")
        return Proposal({**request.best, **{name: text_of(path.read_bytes()) for name, path in found.items()}})

    return propose
