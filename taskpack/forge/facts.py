"""What the conditions of stages see of a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taskpack.runtime.facts.find import find_subjects
from taskpack.runtime.rules import ERROR, WARNING, judge_files

from .stages import Facts
from .trials import Files


def facts_of(plan: Mapping[str, Any], files: Files) -> Facts:
    """Those that can be had: kernels, products and autotuning can be seen in Triton, kernels in HIP as well; findings where the task has rules."""
    language = plan["candidate"]["language"]
    facts: dict[str, bool | int | str] = {"language": language, "is_native": plan["execution"] == "native", "files": len(files)}
    if "rules" in plan["gates"]:
        report = judge_files(plan["rules"]["rules"], language, files, plan["rules"]["facts"])
        facts["findings"] = len(report.of(ERROR)) + len(report.of(WARNING))
    subjects, unreadable = find_subjects(language, files)
    if unreadable or language not in ("triton", "hip"):
        return facts
    facts["kernels"] = sum(subject.about == "kernel" for subject in subjects)
    if language == "triton":
        facts["autotuned"] = sum(subject.about == "autotune" for subject in subjects)
        facts["dots"] = sum(subject.about == "call" and str(subject.facts.get("call", "")).endswith(".dot") for subject in subjects)
    return facts
