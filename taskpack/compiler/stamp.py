"""What a build was made from, so that the next one can see in a moment that nothing changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from taskpack.digest import digest_bytes

FORMAT = 1


@dataclass(frozen=True)
class Stamp:
    """The digests of everything that went into one harness, and of the harness."""

    folder: str
    """The pack's own folder: a copied pack brings its stamp along, and must not believe it."""
    house: str
    """Digest of what taskpack itself contributes."""
    inputs: Mapping[str, str]
    """Path → digest; relative to the pack's folder where the file lies in it."""
    product: str
    """Digest of the `.pyz` as a file."""
    harness_digest: str
    task_digest: str
    format: int = FORMAT

    def holds(self, folder: Path, house: str, product: Path) -> bool:
        """Whether every file still has the content that it had then."""
        if (self.folder, self.house) != (str(folder), house):
            return False
        wanted = {folder / path: digest for path, digest in self.inputs.items()} | {product: self.product}
        return all(_digest(path) == digest for path, digest in wanted.items())

    def to_json(self) -> bytes:
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()


def make_stamp(folder: Path, house: str, inputs: Iterable[Path], *, product: bytes, harness_digest: str, task_digest: str) -> Stamp:
    """The stamp of a harness that was made from `inputs`, as they are now."""
    digests = {_name(path, folder): digest_bytes(path.read_bytes()) for path in inputs}
    return Stamp(str(folder), house, digests, digest_bytes(product), harness_digest, task_digest)


def read_stamp(path: Path) -> Stamp | None:
    """The stamp at `path`; None where there is none, or one that this version did not write."""
    try:
        return Stamp(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _digest(path: Path) -> str:
    """Empty where the file is gone."""
    try:
        return digest_bytes(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
