"""A resolved task becomes a plan, step by step: each pass fills in one thing, and the plan is verified after each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from taskpack.errors import UsageError
from taskpack.packs.knowledge import KnowledgePack
from taskpack.packs.op import Draw, Op, OutputTolerance, Tensor
from taskpack.packs.op import Unseen as UnseenWords
from taskpack.packs.rules import compile_rules, facts_of
from taskpack.packs.task import MODULE
from taskpack.packs.versions import parse_requirement
from taskpack.runtime.facts.cases import case_facts
from taskpack.runtime.languages import EXECUTION
from taskpack.runtime.rules import facts_used

from . import identity
from .library import hold_to_library
from .plan import (
    EXECUTIONS,
    GATES,
    MODEL_GATES,
    OF_MODULES,
    USUAL_ROUNDINGS,
    Allow,
    Argument,
    CandidateSide,
    Case,
    Device,
    InModel,
    Limits,
    Literal,
    Module,
    Names,
    OpName,
    Plan,
    Reference,
    Rules,
    Side,
    StateRule,
    Swap,
    Timing,
    Tolerance,
    Unseen,
    verify_plan,
)
from .resolve import Resolved, swap_folder
from .translate import translate_op

Pass = Callable[[Plan, Resolved], Plan]


def lower_pack(resolved: Resolved) -> Plan:
    """The plan of a task for its target; raises UsageError where the target cannot run it."""
    plan = _begin(resolved)
    for step in PASSES:
        plan = step(plan, resolved)
        verify_plan(plan, is_complete=False)
    verify_plan(plan)
    return plan


def place_languages(plan: Plan, resolved: Resolved) -> Plan:
    """How each side runs on the device; the whole is as weak as its weaker side."""
    baseline, candidate = (_execution(side.language, resolved) for side in (plan.baseline, plan.candidate))
    weakest = max(baseline, candidate, key=EXECUTIONS.index)
    return replace(plan, baseline=replace(plan.baseline, execution=baseline), candidate=replace(plan.candidate, execution=candidate), execution=weakest)


def choose_start(plan: Plan, resolved: Resolved) -> Plan:
    """Which candidate is judged where none is given: the pack's own, else the baseline where it is a candidate, too."""
    if resolved.start_files:
        return replace(plan, candidate=replace(plan.candidate, start="start"))
    is_candidate = identity.describe_side(resolved.baseline) == identity.describe_side(resolved.candidate)
    holds_all = set(resolved.candidate.files) == set(resolved.baseline.files)
    return replace(plan, candidate=replace(plan.candidate, start="baseline" if is_candidate and holds_all else None))


def expand_arguments(plan: Plan, resolved: Resolved) -> Plan:
    """Everything that an entry can be given, and the names that expressions use."""
    op = resolved.op
    inputs = tuple(_tensor(tensor, "input", op, static=tensor.static, edges=tensor.edges) for tensor in op.inputs)
    inouts = tuple(_tensor(tensor, "inout", op, static=tensor.static, edges=tensor.edges) for tensor in op.inouts)
    state = tuple(_tensor(tensor, "input", op, static=tensor.static, edges=tensor.edges) for tensor in op.state)
    outputs = tuple(_tensor(tensor, "output", op, count=tensor.count) for tensor in op.outputs)
    scalars = tuple(Argument(scalar.name, "scalar", scalar.dtype) for scalar in op.scalars)
    names = _names(op)
    dims = tuple(Argument(name, "dim", "int64") for name in names.dims)
    flags = tuple(Argument(name, "flag", "int32") for name in names.flags)
    return replace(plan, arguments=(*inputs, *inouts, *state, *outputs, *scalars, *dims, *flags), names=names)


def translate_expressions(plan: Plan, resolved: Resolved) -> Plan:
    """The op's expressions as Python."""
    return replace(plan, program=translate_op(resolved.op))


def describe_module(plan: Plan, resolved: Resolved) -> Plan:
    """The library's class, which must be installed and be the one that the pack was written for. Raises TargetAbsent, IntegrityError and UsageError."""
    return replace(plan, interface="module", module=_module(resolved)) if resolved.op.module else plan


def describe_model(plan: Plan, resolved: Resolved) -> Plan:
    """The rest of a model: its rules, and the tasks that can be swapped into it, each with its own class of the library."""
    if resolved.model is None:
        return plan
    said = resolved.model
    rules = tuple(StateRule(rule.match, {rule.init.kind: rule.init.arguments()}) for rule in said.state)
    swaps = tuple(_swap(one.modules, task) for one, task in zip(said.replaces, resolved.swaps, strict=True))
    return replace(plan, family="model", interface="model", model=InModel(said.category, said.output, rules, swaps))


def _swap(modules: str, task: Resolved) -> Swap:
    side = task.candidate
    folder = swap_folder(task.pack.name)
    return Swap(task.pack.name, task.pack.version, folder, side.language, side.files, side.entry, modules, _module(task))


def _module(resolved: Resolved) -> Module:
    said, op = resolved.op.module, resolved.op
    assert said is not None, "the op of a module's task is a module"
    clauses = tuple((operator, str(version)) for operator, version in parse_requirement(said.requires).clauses)
    module = Module(
        said.provider,
        said.target,
        said.requires,
        clauses,
        said.fingerprint,
        said.precision,
        **said.signatures(),
        inputs=tuple(tensor.name for tensor in op.inputs),
        state=tuple(tensor.name for tensor in op.state),
    )
    hold_to_library(module, resolved.op_pack.name)
    return module


def select_cases(plan: Plan, resolved: Resolved) -> Plan:
    """A CPU is asked the small cases; a GPU all of them, and timed by the full ones."""
    is_cpu = resolved.target.device == "cpu"
    asked = [case for case in resolved.op.cases if case.scale == "small" or not is_cpu]
    if not asked:
        hint = 'add an [[op.case]] with `scale = "small"`'
        raise UsageError(f"`{resolved.op_pack.name}` has no case of the scale that {plan.target.name} is asked", hint=hint)
    timed = "full" if any(case.scale == "full" for case in asked) else "small"
    cases = tuple(Case(case.id, case.scale, _typed(resolved.op.values_of(case), resolved.op), timed=case.scale == timed) for case in asked)
    return replace(plan, cases=cases)


def place_unseen(plan: Plan, resolved: Resolved) -> Plan:
    """The tables of the scales that the device is asked; a name that a table leaves out has its default."""
    is_cpu = resolved.target.device == "cpu"
    tables = enumerate(resolved.op.unseen, start=1)
    return replace(
        plan,
        unseen=tuple(
            Unseen(f"unseen-{number}", table.scale, table.count, _draws(table, resolved.op)) for number, table in tables if table.scale == "small" or not is_cpu
        ),
    )


def derive_tolerances(plan: Plan, resolved: Resolved) -> Plan:
    """What the op says of each output, the op's general word where it says nothing; the rest follows at judging time."""
    return replace(plan, tolerance={tensor.name: _tolerance(tensor, resolved.op) for tensor in resolved.op.written()})


def set_limits(plan: Plan, resolved: Resolved) -> Plan:
    """When a candidate is stopped, which of its times is scored, and whether its answers must repeat."""
    said = resolved.task.limits
    limits = Limits(said.compile_s, said.call_s, said.memory_mib, said.output_mib)
    return replace(plan, limits=limits, timing=Timing(resolved.task.timing.score), deterministic=resolved.task.deterministic or None)


def say_what_is_allowed(plan: Plan, resolved: Resolved) -> Plan:
    """What of others a candidate may call: what the task says, or what goes with the candidate's language."""
    if resolved.model:
        return plan
    said = resolved.allow
    assert said.torch is not None, "it was resolved"
    return replace(plan, allow=Allow(said.torch, bool(said.vendor_libraries)))


def apply_knowledge(plan: Plan, resolved: Resolved) -> Plan:
    """The rules for the candidate's language on the target, with the facts that they see; nothing where there are none."""
    found: list[dict[str, object]] = []
    for pack in resolved.knowledge_packs:
        assert isinstance(pack.document, KnowledgePack), "it was resolved as one"
        found += compile_rules(pack.name, pack.document.knowledge, resolved.target, plan.candidate.language)
    if not found:
        return plan
    facts = {**facts_of(resolved.target), **case_facts(plan.to_dict())}
    rules = tuple({key: value for key, value in rule.items() if key != "languages"} for rule in found)
    return replace(plan, rules=Rules(rules, {name: facts[name] for name in sorted(facts_used(rules) & set(facts))}))


def place_gates(plan: Plan, resolved: Resolved) -> Plan:
    """Every gate of the interface, in order; one that cannot say anything here says so when it is reached."""
    if resolved.model:
        return replace(plan, gates=MODEL_GATES)
    left_out = {*(() if resolved.op.module else OF_MODULES), *(() if plan.rules else ("rules",))}
    return replace(plan, gates=tuple(gate for gate in GATES if gate not in left_out))


def digest_cases(plan: Plan, resolved: Resolved) -> Plan:
    """What each case is."""
    digests = identity.case_digests(plan, resolved)
    return replace(plan, cases=tuple(replace(case, digest=digests[case.id]) for case in plan.cases))


def digest_task(plan: Plan, resolved: Resolved) -> Plan:
    """What the task is."""
    return replace(plan, digests={"task": identity.task_digest(plan, resolved)})


PASSES: tuple[Pass, ...] = (
    place_languages,
    choose_start,
    expand_arguments,
    describe_module,
    describe_model,
    translate_expressions,
    select_cases,
    place_unseen,
    derive_tolerances,
    set_limits,
    say_what_is_allowed,
    apply_knowledge,
    place_gates,
    digest_cases,
    digest_task,
)
"""From what was said to what is meant; a pass uses what those before it have filled in."""


def _begin(resolved: Resolved) -> Plan:
    """What needs no thought."""
    op, target, baseline, candidate = resolved.op, resolved.target, resolved.baseline, resolved.candidate
    file, _, entry = op.reference.rpartition(":") if op.reference else ("", "", "")
    return Plan(
        task=resolved.pack.name,
        version=resolved.pack.version,
        family=resolved.task.family,
        op=OpName(resolved.op_pack.name, resolved.op_pack.version),
        target=Device(
            resolved.target_pack.name,
            target.device,
            target.architecture,
            target.recognise.model_dump(by_alias=True, exclude_defaults=True),
            {name: quantity.value for name, quantity in target.limits.items()},
            {name: quantity.value for name, quantity in target.peak.items()},
        ),
        reference=Reference(file, entry, op.generator),
        baseline=Side(baseline.language, baseline.files, baseline.entry, baseline.arguments, baseline.style),
        candidate=CandidateSide(candidate.language, candidate.files, candidate.entry, candidate.arguments, candidate.style),
    )


def _execution(language: str, resolved: Resolved) -> str:
    device = resolved.target.device
    if execution := EXECUTION.get(language, {}).get(device):
        return execution
    able = ", ".join(sorted(name for name, devices in EXECUTION.items() if device in devices and name != MODULE))
    raise UsageError(
        f"`{resolved.pack.name}`: {language} does not run on {resolved.target_pack.name} (device {device})",
        hint=f"languages that do: {able}",
    )


def _tensor(tensor: Tensor, role: str, op: Op, *, static: bool = False, edges: tuple[str, ...] = (), count: str | None = None) -> Argument:
    return Argument(tensor.name, role, tensor.dtype, tensor.shape, static, edges, count, op.comparison(tensor))


def _names(op: Op) -> Names:
    """Tables have no order that means anything, so names stand in the order in which tensors use them, and then by the alphabet."""
    tensors = (*op.given(), *op.outputs)
    sizes = [str(size) for tensor in tensors for size in tensor.shape]
    dtypes = [tensor.dtype for tensor in tensors]
    return Names(_in_order(op.dims, sizes), _in_order(op.dtypes, dtypes), tuple(sorted(op.flags)), tuple(scalar.name for scalar in op.scalars))


def _in_order(names: Iterable[str], uses: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (uses.index(name) if name in uses else len(uses), name)))


def _typed(values: dict[str, Literal], op: Op) -> dict[str, Literal]:
    """Floating scalars as floats, however their author wrote them."""
    floating = _floating(op)
    return {name: float(value) if name in floating else value for name, value in values.items()}


def _floating(op: Op) -> frozenset[str]:
    return frozenset(scalar.name for scalar in op.scalars if scalar.dtype.startswith("float"))


def _draws(table: UnseenWords, op: Op) -> dict[str, object]:
    floating = _floating(op)
    defaults: dict[str, object] = dict.fromkeys(op.flags, False) | {scalar.name: scalar.value for scalar in op.scalars}
    said = defaults | {name: rule.to_dict() if isinstance(rule, Draw) else rule for name, rule in table.draws.items()}
    return {name: _as_floats(rule) if name in floating else rule for name, rule in said.items()}


def _as_floats(rule: object) -> object:
    """A range between integers would draw integers only."""
    match rule:
        case dict():
            return {key: [float(value) for value in item] if key in ("choice", "range") else item for key, item in rule.items()}
        case int() | float():
            return float(rule)
        case _:
            return rule


def _tolerance(tensor: Tensor, op: Op) -> Tolerance:
    general: OutputTolerance = op.tolerance
    own = op.tolerance.output.get(tensor.name, OutputTolerance.model_construct())
    rtol = general.rtol if own.rtol is None else own.rtol
    atol = general.atol if own.atol is None else own.atol
    return Tolerance(rtol, atol, own.reason or general.reason, own.roundings or general.roundings or USUAL_ROUNDINGS)
