"""What can go wrong, as data: diagnostics about packs, exceptions with an exit code, and the exit codes themselves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """The exit status of `taskpack` and of a harness."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    INTEGRITY = 5
    NETWORK = 6
    BUG = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


@dataclass(frozen=True, order=True)
class Diagnostic:
    """One mistake of a pack's author, at a place in a file; orders by file, line and column."""

    file: str
    line: int
    """1-based; 0 where the whole file is meant."""
    column: int
    """1-based."""
    code: str
    """`P0xx`, a key of `taskpack.packs.codes.CODES`."""
    message: str
    hint: str = ""
    source_line: str = ""
    length: int = 1
    """How many characters the caret underlines."""
    is_warning: bool = False


class TaskpackError(Exception):
    """A failure that the command line words in one line; never a bug of ours."""

    exit_code: Exit = Exit.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(TaskpackError):
    """The call or the configuration is wrong."""

    exit_code = Exit.USAGE


class PackInvalid(TaskpackError):
    """A pack does not say what a pack must say; carries every diagnostic at once."""

    exit_code = Exit.USAGE

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        errors = sum(not d.is_warning for d in diagnostics)
        super().__init__(f"{errors} error{'s' if errors != 1 else ''} in {diagnostics[0].file if diagnostics else 'a pack'}")
        self.diagnostics = tuple(sorted(diagnostics))


class NotFound(TaskpackError):
    """A name, a file or a version that was asked for does not exist."""

    exit_code = Exit.NOT_FOUND


class TargetAbsent(TaskpackError):
    """The device that was asked for is not in this machine."""

    exit_code = Exit.NOT_FOUND


class Conflict(TaskpackError):
    """Something is already there, and differs."""

    exit_code = Exit.CONFLICT


class IntegrityError(TaskpackError):
    """Bytes are not those that their digest names."""

    exit_code = Exit.INTEGRITY
