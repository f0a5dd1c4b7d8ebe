"""`taskpack lint`: what the rules of a target say of files, from their source alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.errors import Exit

from .places import shown

if TYPE_CHECKING:
    from taskpack.knowledge.rulebook import Rulebook
    from taskpack.runtime.rules import Finding, Report

_COLOURS = {"error": "red", "warning": "yellow", "info": "blue", "unknown": "magenta"}


@click.command("lint")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--target", required=True, metavar="NAME", help="The device that the code is for, such as arc-b70, or the folder of a target pack.")
@click.option("--task", metavar="TASK", help="The task that the code is for: rules about sizes want to know its cases.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(files: tuple[Path, ...], target: str, task: str | None, as_json: bool) -> int:
    """Say what rules about a target find in kernel code, without running any of it.

    Files are Triton (.py) or HIP (.hip). A rule that lacks a fact is reported as unknown, and is not a pass. Exits 1 if there is an error.
    """
    from taskpack.knowledge.lint import lint_file

    rulebook = _rulebook(target)
    cases = _case_facts(task, rulebook.target) if task else {}
    found = {shown(path): lint_file(Path(shown(path)), rulebook, cases) for path in files}
    if as_json:
        _print_json(found, rulebook.target, len(rulebook.rules))
    else:
        _print_text(found, rulebook.target, len(rulebook.rules))
    return Exit.FAILED if any(report.of("error") for report in found.values()) else Exit.OK


def _rulebook(target: str) -> Rulebook:
    """The rules of the target that is meant by its name, or by the folder of its pack."""
    from taskpack.knowledge.rulebook import open_rulebook
    from taskpack.packs.names import FILE, read_name
    from taskpack.packs.shelf import open_shelf

    from .targets import named_target

    if not (Path(target) / FILE).is_file():
        shelf = open_shelf()
        return open_rulebook(named_target(target, shelf), shelf)
    from .subjects import find_subjects

    found = find_subjects([target])
    return open_rulebook(read_name(found.folders[0]) or target, found.shelf)


def _case_facts(task: str, target: str) -> dict[str, int]:
    """What the task's cases say; this compiles the task, and takes as long."""
    from taskpack.runtime.facts.cases import case_facts

    from .building import print_stage
    from .subjects import find_tasks

    subjects = find_tasks([task])
    return case_facts(json.loads(print_stage(subjects.folders[0], target, subjects.shelf, "plan")))


def _print_text(found: dict[str, Report], target: str, rules: int) -> None:
    for report in found.values():
        for finding in report.findings:
            click.echo(_line(finding))
    counts = "; ".join(f"{path}: {_counts(report)}" for path, report in found.items())
    click.echo(f"{counts} ({rules} rules for {target})")


def _counts(report: Report) -> str:
    return report.counts() if report.findings or report.decided else "nothing that a rule is about"


def _line(finding: Finding) -> str:
    place = click.style(f"{finding.file}:{finding.line}:{finding.column}", bold=True)
    level = click.style(f"{finding.level}[{finding.rule}]" if finding.rule else finding.level, fg=_COLOURS[finding.level], bold=True)
    more = f" (and {finding.places - 1} more)" if finding.places > 1 else ""
    fix = f"\n  fix: {finding.fix}" if finding.fix else ""
    return f"{place}: {level}: {finding.message}{more}{fix}"


def _print_json(found: dict[str, Report], target: str, rules: int) -> None:
    files = [{"file": path, "decided": report.decided, "findings": [finding.to_dict() for finding in report.findings]} for path, report in found.items()]
    counts: dict[str, Any] = {level: sum(len(report.of(level)) for report in found.values()) for level in _COLOURS}
    click.echo(json.dumps({"format": 1, "target": target, "rules": rules, "files": files, "counts": counts}, indent=1, ensure_ascii=False))
