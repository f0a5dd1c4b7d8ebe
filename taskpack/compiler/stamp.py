"""What a build was made from, so that the next one can see in a moment that nothing changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from taskpack.digest import digest_bytes
from taskpack.packs.names import FILE

FORMAT = 1


@dataclass(frozen=True)
class Stamp:
    """The digests of everything that went into one harness, and of the harness.

    Contents are compared, and no times: a change within a clock's tick counts, a checkout that touches every file does not.
    """

    folder: str
    """The pack's own folder: a copied pack brings its stamp along, and must not believe it."""
    house: str
    """Digest of what taskpack itself contributes."""
    inputs: Mapping[str, str]
    """Path → digest; relative to the pack's folder where the file lies in it."""
    packs: Mapping[str, str]
    """Name → folder of every other pack that took part: the name may come to mean another one."""
    product: str
    """Digest of the `.pyz` as a file."""
    harness_digest: str
    task_digest: str
    format: int = FORMAT

    def holds(self, folder: Path, house: str, product: Path, find: Callable[[str], Path | None]) -> bool:
        """Whether everything is still what it was then. `find` tells where a pack of a name stands."""
        if (self.format, self.folder, self.house) != (FORMAT, _absolute(folder), house):
            return False
        if any((found := find(name)) is None or _absolute(found) != place for name, place in self.packs.items()):
            return False
        wanted = {folder / path: digest for path, digest in self.inputs.items()} | {product: self.product}
        return all(_digest(path) == digest for path, digest in wanted.items())

    def to_json(self) -> bytes:
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()


def make_stamp(folder: Path, house: str, inputs: Mapping[Path, bytes], packs: Mapping[str, Path], product: bytes, digests: tuple[str, str]) -> Stamp:
    """The stamp of a harness that was made from `inputs`, with what was read of them; `digests` are the harness's and the task's."""
    named = {_name(path, folder): digest_bytes(content) for path, content in inputs.items()}
    return Stamp(_absolute(folder), house, named, {name: _absolute(place) for name, place in packs.items()}, digest_bytes(product), *digests)


def read_stamp(path: Path) -> Stamp | None:
    """The stamp at `path`; None where there is none, or one that this version did not write."""
    try:
        return Stamp(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _absolute(path: Path) -> str:
    return str(path.resolve())


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else _absolute(path)


def _digest(path: Path) -> str:
    """Empty where the file is gone."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    return digest_bytes(content.replace(b"\r\n", b"\n") if path.name == FILE else content)
