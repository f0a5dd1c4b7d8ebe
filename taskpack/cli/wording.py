"""What went wrong, said on stderr: one line, a hint, and an exit code."""

from __future__ import annotations

import errno

import click

from taskpack.errors import Exit, PackInvalid, TaskpackError

_OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE})
"""What a disk or its rights refuse: nobody's bug."""


def say_error(error: BaseException) -> int:
    """Says on stderr what went wrong; returns the exit code."""
    match error:
        case KeyboardInterrupt() | click.Abort():
            return _say("interrupted", "", Exit.INTERRUPTED)
        case PackInvalid():
            from taskpack.packs.diagnostics import render_diagnostics

            click.echo(render_diagnostics(error.diagnostics, colour=True), err=True)
            return _say(error.message, "", error.exit_code)
        case TaskpackError():
            return _say(error.message, error.hint, error.exit_code)
        case click.ClickException():
            context = getattr(error, "ctx", None)
            return _say(error.format_message().rstrip("."), f"`{context.command_path} --help`" if context else "", Exit.USAGE)
        case OSError(errno=number) if number in _OF_THE_MACHINE:
            place = f"{error.filename}: " if error.filename else "the output: "
            return _say(f"{place}{error.strerror}", "", Exit.USAGE)
        case _:
            from .bugs import write_log

            return _say(f"a bug of taskpack: {type(error).__name__}: {error}", f"the details are in {write_log(error)}, laid out as an issue", Exit.BUG)


def _say(message: str, hint: str, code: Exit) -> int:
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)
    if hint:
        click.echo(f"\n{click.style('hint', fg='cyan')}: {hint}", err=True)
    return code
