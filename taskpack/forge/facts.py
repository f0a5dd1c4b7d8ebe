"""What the conditions of stages see of a candidate."""

from __future__ import annotations

from taskpack.runtime.facts.find import find_subjects

from .stages import Facts
from .trials import Files


def facts_of(language: str, execution: str, files: Files) -> Facts:
    """Those that can be had: kernels, products and autotuning can be seen in Triton, kernels in HIP as well."""
    facts: dict[str, bool | int | str] = {"language": language, "is_native": execution == "native", "files": len(files)}
    subjects, unreadable = find_subjects(language, files)
    if unreadable or language not in ("triton", "hip"):
        return facts
    facts["kernels"] = sum(subject.about == "kernel" for subject in subjects)
    if language == "triton":
        facts["autotuned"] = sum(subject.about == "autotune" for subject in subjects)
        facts["dots"] = sum(subject.about == "call" and str(subject.facts.get("call", "")).endswith(".dot") for subject in subjects)
    return facts
