"""What a run leaves behind: gates, cases, timings and all that is needed to repeat it, as data."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
PASS, FAIL, SKIP, INCONCLUSIVE = "pass", "fail", "skip", "inconclusive"


@dataclass(frozen=True)
class Verdict:
    """What a gate says, before anybody has looked at the time it took."""

    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class GateResult:
    gate: str
    verdict: str
    reason: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return {"gate": self.gate, "verdict": self.verdict, "reason": self.reason, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True)
class CaseResult:
    """One case under one distribution of its inputs."""

    gate: str
    case: str
    values: Mapping[str, Any]
    distribution: str
    verdict: str
    reason: str = ""
    outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Output name → what `compare` observed."""
    is_repeated: bool | None = None
    """Whether one more call on the same contents gave the same bits; None where that was not asked."""

    def to_dict(self) -> dict[str, Any]:
        outputs = {name: dict(observed) for name, observed in self.outputs.items()}
        return {
            "gate": self.gate,
            "case": self.case,
            "values": dict(self.values),
            "distribution": self.distribution,
            "verdict": self.verdict,
            "reason": self.reason,
            "outputs": outputs,
            **({} if self.is_repeated is None else {"deterministic": self.is_repeated}),
        }


@dataclass(frozen=True)
class TimingResult:
    """One case's measurement; `measured` is what the clock's `to_dict` gives, `conditions` what memory a long pass took, and the device's state around it."""

    case: str
    is_unseen: bool
    measured: Mapping[str, Any]
    conditions: Mapping[str, Any]
    roof_us: float | None = None
    """The least that the device can take for a call; None where it is not known."""

    def to_dict(self) -> dict[str, Any]:
        roof = {} if self.roof_us is None else {"roof_us": self.roof_us}
        return {"case": self.case, "unseen": self.is_unseen, **self.measured, **roof, "conditions": dict(self.conditions)}


@dataclass(frozen=True)
class Result:
    """A whole run; `header` holds what is known before the first gate: task, digests, probe, toolchain."""

    header: Mapping[str, Any]
    gates: tuple[GateResult, ...]
    cases: tuple[CaseResult, ...]
    timing: tuple[TimingResult, ...]
    speedup: Mapping[str, float] | None
    testimony: Mapping[str, str]
    findings: tuple[Mapping[str, Any], ...] | None = None
    """What rules say of the candidate's source; None where there are no rules for it."""

    @property
    def is_passed(self) -> bool:
        """Every gate passed, or was left out for a stated reason."""
        return all(gate.verdict in (PASS, SKIP) for gate in self.gates)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "kind": "result",
            **self.header,
            "gates": [gate.to_dict() for gate in self.gates],
            **({} if self.findings is None else {"findings": [dict(finding) for finding in self.findings]}),
            "cases": [case.to_dict() for case in self.cases],
            "timing": [timing.to_dict() for timing in self.timing],
            "speedup": dict(self.speedup) if self.speedup else None,
            "testimony": dict(self.testimony),
        }


def to_json(result: Result) -> str:
    """Strict JSON: a number that is not finite becomes null."""
    return to_text(result.to_dict())


def to_text(content: Mapping[str, Any]) -> str:
    """As `to_json`, of any content."""
    return json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_atomically(path: Path, text: str) -> None:
    """The whole file or none, with the mode that the umask gives."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
