"""The command line of a harness: `python X.pyz [--candidate DIR]` judges a candidate and says what came out."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import archive, isolation

if TYPE_CHECKING:
    from .evidence import Result

OK, FAILED, USAGE, ABSENT, INTEGRITY, BUG, INTERRUPTED = 0, 1, 2, 3, 5, 70, 130
"""Exit codes, as everywhere in taskpack."""

_NO_WALLS = (
    "this machine lends no namespaces that would wall code off, so none was run; `--trust` runs a stranger's pack without, if `--require-isolation` is not said"
)


@dataclass(frozen=True)
class Harness:
    """The page `harness.py`: its own file and the op's expressions, each taking every dim, dtype, flag and scalar by keyword."""

    file: str
    shapes: Callable[..., dict[str, tuple[Any, ...]]]
    inits: Callable[..., dict[str, Any]]
    constraints: Callable[..., tuple[tuple[str, bool], ...]]
    invariants: Callable[..., tuple[tuple[str, bool], ...]]
    reductions: Callable[..., dict[str, Any]]
    cost: Callable[..., dict[str, Any]]
    derived: Callable[..., Any]
    arguments: Callable[..., dict[str, Any]] = dict
    """Of a module's constructor, where the interface is `module`."""


class _Terminated(BaseException):
    """SIGTERM: everything is taken down on the way out."""


def main(harness: Harness, argv: list[str] | None = None) -> int:
    """Judges a candidate; returns the exit code, which `--help` explains."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    if not sys.platform.startswith("linux"):
        return _complain("judging needs Linux", ABSENT)
    files = archive.find_archive(harness.file)
    try:
        digest = files.verify()
    except archive.Tampered as error:
        return _complain(str(error), INTEGRITY)
    signal.signal(signal.SIGTERM, _terminate)
    if arguments.events_fd is not None:
        isolation.die_with_parent(os.getppid())  # whoever listens has started this, and nobody else wants the result
    try:
        return _judge(harness, files, digest, arguments)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except _Terminated:
        return _complain("terminated", 128 + signal.SIGTERM)
    except BrokenPipeError:
        return 141
    except Exception:  # noqa: BLE001  the boundary: what is left is a bug of ours
        traceback.print_exc()
        return BUG


def _judge(harness: Harness, files: archive.Archive, digest: str, arguments: argparse.Namespace) -> int:
    try:
        from . import contract, isolation, judge, library, question, targets  # imports torch
    except ModuleNotFoundError as error:
        return _complain(f"a harness needs PyTorch: pip install torch ({error})", ABSENT)
    plan = json.loads(files.read("plan.json"))
    if arguments.against:
        plan = judge.put_against(plan)
    is_probe = arguments.probe
    court = judge.open_court(files, plan, forget=lambda: vars(arguments).clear(), has_sides=not is_probe)
    try:
        if arguments.walled and court.parent.isolation != isolation.NAMESPACES:
            return _complain(_NO_WALLS, USAGE)
        options = judge.Options(arguments.candidate, arguments.seed, arguments.quick, arguments.scale, arguments.against)
        if is_probe:
            return _report_probe(judge.probe_task(court, harness, options, _listener(arguments)), arguments)
        return _report(judge.judge(court, harness, options, digest, _listener(arguments)), arguments)
    except (question.Unusable, question.PackFault) as error:
        return _complain(str(error), USAGE)
    except (targets.Absent, contract.Unprepared, library.Missing) as error:
        return _complain(str(error), ABSENT)
    except library.Drifted as error:
        return _complain(str(error), INTEGRITY)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave processes behind
        court.close()


def _report(result: Result, arguments: argparse.Namespace) -> int:
    from . import evidence, talk

    _tell(evidence.to_json(result), lambda: talk.ending(result), arguments)
    return OK if result.is_passed else FAILED


def _report_probe(found: dict[str, Any], arguments: argparse.Namespace) -> int:
    """A weak task fails."""
    from . import evidence, talk

    _tell(evidence.to_text(found), lambda: talk.weak_lines(found), arguments)
    return FAILED if found["weak"] else OK


def _tell(text: str, lines: Callable[[], list[str]], arguments: argparse.Namespace) -> None:
    """JSON or lines, to whoever the command line names."""
    from . import evidence, talk

    if arguments.result:
        evidence.write_atomically(arguments.result, text)
    if arguments.events_fd is not None:
        talk.events_to(arguments.events_fd)("result", result=json.loads(text))
    elif arguments.json:
        print(text, end="")
    else:
        for line in lines():
            print(line)


def _listener(arguments: argparse.Namespace) -> Callable[..., None]:
    from . import talk

    if arguments.events_fd is not None:
        return talk.events_to(arguments.events_fd)
    return talk.lines_to(lambda line: print(line, file=sys.stderr if arguments.json else sys.stdout, flush=True))


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Judges a candidate by the gates compile, correct, general and fast.",
        epilog="Exit codes: 0 every gate passed, or was left out for a stated reason; 1 one did not; 2 usage; 3 target absent; 5 integrity; 70 our bug.",
    )
    parser.add_argument("--candidate", type=Path, metavar="DIR", help="folder with the candidate's files (default: the task's own start)")
    parser.add_argument("--against", type=Path, metavar="DIR", help="measure against the candidate in this folder, and not against the baseline")
    parser.add_argument("--seed", metavar="HEX", help="repeat a run: its seed, from the result")
    parser.add_argument("--quick", action="store_true", help="measure briefly")
    parser.add_argument("--probe", action="store_true", help="judge no candidate, but whether the task's cases and tolerances refuse wrong answers")
    parser.add_argument("--scale", choices=("small", "full"), help="ask only cases of this scale")
    parser.add_argument("--walled", action="store_true", help="run nothing where namespaces cannot wall it off")
    parser.add_argument("--result", type=Path, metavar="FILE", help="write the result as JSON, at once or not at all")
    parser.add_argument("--json", action="store_true", help="print the result as JSON instead of a table")
    parser.add_argument("--events-fd", type=int, metavar="N", help="write events as JSON lines to this descriptor, and print nothing")
    return parser.parse_args(argv)


def _complain(words: str, code: int) -> int:
    print(f"error: {words}", file=sys.stderr)
    return code


def _terminate(*_: object) -> None:
    raise _Terminated
