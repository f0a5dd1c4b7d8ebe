"""What a task and a case are, whatever they are called and whoever compiles them: the digests of their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from taskpack.digest import digest_bytes, digest_value
from taskpack.packs.op import Draw, Input, Op, Output, Tensor
from taskpack.packs.task import Baseline

from .plan import USUAL_ROUNDINGS, Case, InModel, Plan, Tolerance, shortest
from .resolve import File, Resolved


def task_digest(plan: Plan, resolved: Resolved) -> str:
    """The digest of the resolved meaning."""
    return digest_value(describe_task(plan, resolved))


def describe_task(plan: Plan, resolved: Resolved) -> dict[str, Any]:
    """The resolved meaning. Left out: names and versions of packs, words for people, the target, and candidates that come along.

    The cases are those of the op, whichever of them the target is asked.
    """
    op, task = resolved.op, resolved.task
    meaning = {
        "question": _question(plan, resolved),
        "cases": [{"id": case.id, "scale": case.scale, "values": op.values_of(case)} for case in op.cases],
        "unseen": [{"scale": unseen.scale, "count": unseen.count, "draws": _plain(unseen.draws)} for unseen in op.unseen],
        "baseline": describe_side(resolved.baseline) | {"files": _digests(resolved.baseline_files)},
        "candidate": describe_side(resolved.candidate) | {"files": sorted(resolved.candidate.files)},
        "allow": resolved.allow.model_dump(by_alias=True),
        "limits": task.limits.model_dump(),
        "timing": task.timing.model_dump() | ({"deterministic": True} if task.deterministic else {}),
    }
    return {part: _one_spelling(said) for part, said in meaning.items()}


def case_digests(plan: Plan, resolved: Resolved) -> dict[str, str]:
    """Case id → the digest of what is asked: the op's question and the case's values; neither id nor scale, baseline nor target."""
    question = _question(plan, resolved)
    return {case.id: _case_digest(case, question) for case in plan.cases}


def _case_digest(case: Case, question: dict[str, object]) -> str:
    return digest_value(_one_spelling({"question": question, "values": case.values}))


def _question(plan: Plan, resolved: Resolved) -> dict[str, object]:
    """The op without its cases. Expressions are compared as they are compiled, so that spaces in them mean nothing."""
    op, program = resolved.op, plan.program
    return {
        "tensors": [_tensor(tensor, role, op) | {"shape": program.shapes[tensor.name]} for tensor, role in _tensors(op)],
        "inits": program.inits,
        "derived": program.derived,
        "scalars": [{"name": scalar.name, "dtype": scalar.dtype} for scalar in op.scalars],
        "dims": sorted(op.dims),
        "dtypes": {name: sorted(dtypes) for name, dtypes in op.dtypes.items()},
        "flags": sorted(op.flags),
        "constraints": [check.python for check in program.constraints],
        "invariants": [check.python for check in program.invariants],
        "tolerance": {name: _tolerance(one) for name, one in plan.tolerance.items()},
        "reductions": program.reductions,
        "cost": program.cost,
        "reference": _function(op.reference, resolved.reference_files) if op.reference else _module(plan),
        "generator": _function(op.generator, resolved.reference_files) if op.generator else None,
        "data": {tensor.name: digest_bytes(resolved.reference_files[tensor.init.file.path].content) for tensor in op.given() if tensor.init.file},
    }


def _tensors(op: Op) -> Iterable[tuple[Tensor, str]]:
    yield from ((tensor, "input") for tensor in op.inputs)
    yield from ((tensor, "inout") for tensor in op.inouts)
    yield from ((tensor, "state") for tensor in op.state)
    yield from ((tensor, "output") for tensor in op.outputs)


def _tensor(tensor: Tensor, role: str, op: Op) -> dict[str, object]:
    said: dict[str, object] = {"name": tensor.name, "role": role, "dtype": tensor.dtype, "compare": op.comparison(tensor)}
    match tensor:
        case Input():
            said |= {"static": tensor.static, "edges": sorted(tensor.edges)}
        case Output():
            said |= {"count": tensor.count}
    return said


def _function(spelled: str, files: Mapping[str, File]) -> list[str]:
    """The function and the digest of its file, whatever the file is called."""
    path, _, name = spelled.rpartition(":")
    return [name, digest_bytes(files[path].content)]


def _tolerance(said: Tolerance) -> list[float | None]:
    return [said.rtol, said.atol, *([said.roundings] if said.roundings != USUAL_ROUNDINGS else [])]


def _module(plan: Plan) -> dict[str, object]:
    """The library's class by its fingerprint, and how it is constructed and called; not which versions of the library hold that class."""
    module = plan.module
    assert module is not None, "an op without a reference has a module"
    said: dict[str, object] = {"target": module.target, "fingerprint": module.fingerprint, "precision": module.precision}
    said |= {"constructor": module.constructor, "forward": module.forward, "arguments": plan.program.arguments}
    return said | (_model(plan.model) if plan.model else {})


def _model(model: InModel) -> dict[str, object]:
    """How its state is drawn, what is compared, and which classes of it may be replaced, whatever the tasks about these are called."""
    rules = [[rule.match, {name: dict(said) for name, said in rule.init.items()}] for rule in model.state]
    return {"output": model.output, "rules": rules, "replaced": [[swap.module.target, swap.module.fingerprint, swap.modules] for swap in model.swaps]}


def describe_side(side: Baseline) -> dict[str, object]:
    """What it takes to call one side; the same for both where a baseline is a candidate, too."""
    return {"language": side.language, "entry": side.entry, "arguments": list(side.arguments), "style": side.style}


def _digests(files: Mapping[str, File]) -> dict[str, str]:
    return {name: digest_bytes(file.content) for name, file in files.items()}


def _plain(draws: Mapping[str, object]) -> dict[str, object]:
    return {name: rule.to_dict() if isinstance(rule, Draw) else rule for name, rule in draws.items()}


def _one_spelling(value: object) -> object:
    """JSON in which 3 and 3.0 are the same number."""
    if isinstance(value, Mapping):
        return {key: _one_spelling(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_one_spelling(item) for item in value]
    return shortest(value) if isinstance(value, float) else value
