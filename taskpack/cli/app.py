"""The command `taskpack`: a table of verbs, loaded when they are called, behind the one boundary that words errors."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from taskpack import __version__
from taskpack.errors import Exit, UsageError

from .wording import say_error

VERBS = {
    "new": "taskpack.cli.new",
    "check": "taskpack.cli.check",
    "lint": "taskpack.cli.lint",
    "build": "taskpack.cli.build",
    "run": "taskpack.cli.run",
    "swap": "taskpack.cli.swap",
    "optimize": "taskpack.cli.optimize",
    "trials": "taskpack.cli.trials",
    "prompt": "taskpack.cli.prompt",
    "report": "taskpack.cli.report",
    "compare": "taskpack.cli.compare",
    "publish": "taskpack.cli.publish",
    "add": "taskpack.cli.add",
    "schema": "taskpack.cli.schema",
}
"""Verb → the module whose `command` it is, in the order of work."""

_EXIT_CODES = """\b
Exit codes:
    0  yes
    1  the checked thing failed: a gate said no, or a pack has mistakes
    2  usage, configuration, or a pack that cannot be used
    3  not found, or a target that was asked for is absent
    4  conflict: something is there already
    5  integrity: bytes are not what their digest says
    6  network
   70  a bug of taskpack; the message names a log file
  130  interrupted
  141  the reader of the output went away
"""


class _Verbs(click.Group):
    """Loads a verb's module when the verb is named, and turns what it raises into words and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  the signature is click's
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(VERBS[cmd_name]).command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            raise UsageError(f"there is no `taskpack {args[0]}`", hint=f"did you mean `taskpack {near[0]}`?" if near else "`taskpack --help`")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _closed_pipe():  # --help and --version print here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> int:
        with _closed_pipe():
            try:
                return int(super().invoke(ctx) or 0)
            except (click.exceptions.Exit, BrokenPipeError):
                raise
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  the boundary
                return say_error(error)


def _give_up_stdout() -> None:
    """Python flushes it once more at its end, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _closed_pipe() -> Iterator[None]:
    """Exit 141 where whoever read the output has gone."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()
        raise click.exceptions.Exit(Exit.CLOSED_PIPE) from None


def _choose_colour(ctx: click.Context, _: click.Parameter, choice: str) -> None:
    """`ctx.color` is what click.echo asks; None lets it ask the stream."""
    if choice != "auto":
        ctx.color = choice == "always"
    elif os.environ.get("NO_COLOR"):
        ctx.color = False


@click.group(cls=_Verbs, epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    expose_value=False,
    is_eager=True,
    callback=_choose_colour,
    help="Colour; auto: on a terminal, unless NO_COLOR is set.",
)
@click.version_option(__version__, prog_name="taskpack", message="%(prog)s %(version)s")
def root() -> None:
    """GPU-kernel tasks as data: checked, compiled into one executable harness, judged.

    Where a verb takes PACKS, each is a pack's folder, a folder of packs, or the name of a pack that ships, such as
    arena/hip2hip-softmax; without any it takes the pack in the current folder.
    """


class Terminated(BaseException):
    """The process was asked to end; what it started must end with it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def _terminate(number: int, _: object) -> NoReturn:
    raise Terminated(number)


def main() -> NoReturn:
    """The console script: runs a verb and exits with its code."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _terminate)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the descriptor was closed
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  it lives as long as the process
    try:
        code = root.main(prog_name="taskpack", standalone_mode=False)
    except Terminated as ended:
        code = ended.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  the boundary, for what happens before a verb is called
        code = say_error(error)
        if isinstance(error, OSError):
            _give_up_stdout()
    sys.exit(code)
