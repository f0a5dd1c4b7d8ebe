"""What an agent is told of a task: its prompt and the files of its workspace, and never what judges it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from taskpack import resources
from taskpack.compiler.lower import lower_pack
from taskpack.compiler.plan import Plan
from taskpack.compiler.resolve import Resolved, resolve_pack
from taskpack.packs.check import load_checked
from taskpack.packs.knowledge import KnowledgePack
from taskpack.packs.rules import facts_of, rules_for
from taskpack.packs.shelf import Shelf
from taskpack.runtime.rules import render

PROMPT, CASES = "PROMPT.md", "cases.json"
_C_ABI = ("cpp", "hip", "cuda")
_TORCH_MAY = {
    "none": "torch may allocate, view, copy and cast tensors, and compute nothing",
    "elementwise": "torch may allocate, view, copy and cast tensors, and compute element by element only",
    "all": "torch may be used",
}
_C_TYPES = {
    "float64": "double",
    "float32": "float",
    "float16": "_Float16",
    "bfloat16": "bfloat16",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "bool": "bool",
}


@dataclass(frozen=True)
class Briefing:
    """All that an agent gets."""

    task: str
    prompt: str
    given: Mapping[str, bytes]
    """Files to read: the baseline, the seen cases."""
    start: Mapping[str, bytes]
    """The candidate to begin with; empty where there is none."""
    candidate: tuple[str, ...]
    """The files that it may write: those that are judged."""


def brief(folder: Path, target: str, shelf: Shelf) -> Briefing:
    """The briefing of the task in `folder` for a target. Raises PackInvalid, UsageError and NotFound as building does."""
    resolved = resolve_pack(load_checked(folder, shelf), target, shelf.fetch)
    plan = lower_pack(resolved)
    baseline = {name: file.content for name, file in resolved.baseline_files.items()}
    start = {name: file.content for name, file in resolved.start_files.items()}
    if plan.candidate.start == "baseline":
        start = baseline
    cases = [{"id": case.id, "scale": case.scale, "timed": case.timed, **case.values} for case in plan.cases]
    given = {f"baseline/{name}": content for name, content in baseline.items()} | {CASES: (json.dumps(cases, indent=1) + "\n").encode()}
    return Briefing(plan.task, _render(resolved, plan, baseline), given, start, plan.candidate.files)


def render_prompt(template: str, **values: Any) -> str:
    """A page of `templates/prompt/`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates() / "prompt"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(template).render(values)


def _render(resolved: Resolved, plan: Plan, baseline: Mapping[str, bytes]) -> str:
    return render_prompt(
        "task.md.j2",
        plan=plan,
        task=resolved.task,
        op=resolved.op,
        summary=resolved.pack.document.pack.summary,
        baseline={name: content.decode(errors="replace").rstrip("\n") for name, content in baseline.items()},
        signatures=_signatures(plan),
        docs=_docs(resolved),
        known=_known(resolved, plan),
        allowed=_allowed(plan),
    )


def _allowed(plan: Plan) -> str:
    """What of others a candidate may call, where that is not everything."""
    allow = plan.allow
    if allow is None or (allow.torch == "all" and allow.vendor_libraries):
        return ""
    libraries = "libraries of vendors (cuBLAS, cuDNN, rocBLAS, MIOpen, oneDNN, MKL, CUTLASS and the like)"
    operations = "the operations of torch that go to them, such as matrix products, convolutions and attention,"
    native = plan.candidate.language in _C_ABI
    may = f"{libraries} may be called" if native else f"{libraries} and {operations} may be called"
    may_not = f"no {libraries} may be called" if native else f"neither {libraries} nor {operations} may be called"
    words = may if allow.vendor_libraries else may_not
    if native and allow.torch != "all":
        return f"The work must be the candidate's own: torch's C++ library may not be used, and {words}."
    return f"The work must be the candidate's own: {_TORCH_MAY[allow.torch]}, and {words}."


def _known(resolved: Resolved, plan: Plan) -> dict[str, list[str]]:
    """Rules for the candidate's language on the target, as they are told before there is code: what the gate refuses, and what it warns of."""
    facts = facts_of(resolved.target)
    known: dict[str, list[str]] = {"refused": [], "warned": []}
    for pack in resolved.knowledge_packs:
        assert isinstance(pack.document, KnowledgePack), "it was resolved as one"
        for rule in rules_for(pack.document.knowledge, resolved.target, plan.candidate.language):
            known["refused" if rule.severity == "error" else "warned"].append(render(rule.prose, facts))
    return known


def _docs(resolved: Resolved) -> dict[str, str]:
    """What the op says of each tensor and scalar."""
    tensors = {tensor.name: tensor.doc for tensor in (*resolved.op.given(), *resolved.op.written())}
    return tensors | {scalar.name: scalar.doc for scalar in resolved.op.scalars}


def _signatures(plan: Plan) -> list[str]:
    """The entry as its language spells it, for each dtype that the cases use."""
    side = plan.candidate
    if plan.interface == "module":
        return [f"class {side.entry}(torch.nn.Module)"]
    if side.language not in _C_ABI:
        return [f"def {side.entry}({', '.join(side.arguments)})"]
    uses = {name: sorted({str(case.values[name]) for case in plan.cases}) for name in plan.names.dtypes}
    spelled: dict[str, None] = {}
    for case in plan.cases:
        dtypes = {name: str(case.values[name]) for name in uses}
        entry = side.entry
        for name, dtype in dtypes.items():
            entry = entry.replace(f"{{{name}}}", dtype)
        spelled[f'extern "C" void {entry}({", ".join(_parameter(plan, name, dtypes) for name in side.arguments)})'] = None
    return list(spelled)


def _c_type(language: str, dtype: str) -> str:
    of_device = {"float16": "__half", "bfloat16": "__hip_bfloat16" if language == "hip" else "__nv_bfloat16"}
    return of_device.get(dtype, _C_TYPES[dtype]) if language != "cpp" else _C_TYPES[dtype]


def _parameter(plan: Plan, name: str, dtypes: Mapping[str, str]) -> str:
    """Tensors are pointers, dimensions int64_t, flags int32_t, scalars have their own type, and the stream is a pointer."""
    if name == "stream":
        return "void* stream"
    argument = next(argument for argument in plan.arguments if argument.name == name)
    dtype = _c_type(plan.candidate.language, dtypes.get(argument.dtype, argument.dtype))
    match argument.role:
        case "input":
            return f"const {dtype}* {name}"
        case "inout" | "output":
            return f"{dtype}* {name}"
        case "dim":
            return f"int64_t {name}"
        case "flag":
            return f"int32_t {name}"
        case _:
            return f"{'int32_t' if dtype == 'bool' else dtype} {name}"
