"""The gate *rules*: what is known of code on this target, held against the candidate's source."""

from __future__ import annotations

from .evidence import FAIL, PASS, SKIP, Verdict
from .rules import ERROR, Report, judge_files
from .run import Run


def hold_to_rules(run: Run) -> Verdict:
    """Fails where a rule of severity error is broken; warnings, and rules that could not be decided, are recorded and counted."""
    plan = run.question.plan
    files = {name: content.decode("utf-8", errors="replace") for name, content in run.sources.items()}
    report = judge_files(plan["rules"]["rules"], plan["candidate"]["language"], files, plan["rules"]["facts"])
    run.findings += report.findings
    return _verdict(report)


def _verdict(report: Report) -> Verdict:
    errors = report.of(ERROR)
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return Verdict(FAIL, f"{first.file}:{first.line}: {first.rule}: {first.message}{more}")
    if not report.decided:
        return Verdict(SKIP, "no rule could be decided: " + (report.counts() if report.findings else "there is nothing in the source that one looks at"))
    return Verdict(PASS, report.counts() if report.findings else "")
