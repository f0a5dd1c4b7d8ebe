"""Digests: what changes them and what does not."""

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskpack import resources
from taskpack.compiler.lower import lower_pack
from taskpack.compiler.plan import Plan
from taskpack.compiler.render import render_plan
from taskpack.compiler.resolve import resolve_pack
from taskpack.packs.kinds import KINDS
from taskpack.packs.load import Loaded
from taskpack.packs.salvage import frozen

from .conftest import OP, PACKS, TASK, edit, loaded, lower, raw, resolve, shelf

Edit = Callable[[Path], None]


def in_op(old: str, new: str) -> Edit:
    return lambda packs: edit(packs / OP / "pack.toml", old, new)


def in_task(old: str, new: str) -> Edit:
    return lambda packs: edit(packs / TASK / "pack.toml", old, new)


def in_file(name: str, extra: str) -> Edit:
    def append(packs: Path) -> None:
        (packs / name).write_text((packs / name).read_text() + extra)

    return append


def rename_reference(packs: Path) -> None:
    (packs / OP / "reference.py").rename(packs / OP / "truth.py")
    edit(packs / OP / "pack.toml", "reference.py:", "truth.py:")


def add_example(packs: Path) -> None:
    (packs / TASK / "examples" / "same").mkdir(parents=True)
    shutil.copy(packs / TASK / "kernel.cpp", packs / TASK / "examples" / "same")
    in_file(f"{TASK}/pack.toml", '\n[[task.example]]\nname = "same"\nfolder = "examples/same"\nsummary = "the baseline"\n')(packs)


def add_start(packs: Path) -> None:
    (packs / TASK / "start").mkdir()
    shutil.copy(packs / TASK / "kernel.cpp", packs / TASK / "start")
    in_task("[task.candidate]", '[task.candidate]\nstart = "start"')(packs)


def inline_op(packs: Path) -> None:
    op = (packs / OP / "pack.toml").read_text()
    in_task('op = "ops/segment-mean"\n', "")(packs)
    in_task('[pack.dependencies]\n"ops/segment-mean" = "^1.0"\n', "")(packs)
    in_file(f"{TASK}/pack.toml", "\n" + op[op.index("[op]") :])(packs)
    shutil.copy(packs / OP / "reference.py", packs / TASK)


NOTHING: dict[str, Edit] = {
    "what is allowed anyhow": in_task("[task.candidate]", '[task.allow]\ntorch = "none"\n\n[task.candidate]'),
    "a summary": in_op("Mean of each", "Average of each"),
    "what a dimension means": in_op("row length", "length of a row"),
    "prose for prompts": in_task('op = "ops/segment-mean"', 'op = "ops/segment-mean"\ndoc = "Read this first."'),
    "versions": lambda packs: (in_op("1.2.0", "1.3.0")(packs), in_task("0.3.0", "0.3.1")(packs)),
    "the reason of a tolerance": in_op("rounded to T", "rounded to T, twice,"),
    "spaces in an expression": in_op('"tokens >= segments"', '"tokens>=segments"'),
    "3 for 3.0": in_op("std = 3.0", "std = 3"),
    "a default that is said": in_op("std = 3.0", "std = 3.0, mean = 0"),
    "the name of the reference's file": rename_reference,
    "an example": add_example,
    "a candidate to start from": add_start,
    "the op in the task's own file": inline_op,
}
TASK_ALONE: dict[str, Edit] = {
    "the baseline": in_file(f"{TASK}/kernel.cpp", "// faster\n"),
    "the candidate's files": in_task('[task.candidate]\nfiles = ["kernel.cpp"]', '[task.candidate]\nfiles = ["kernel.cpp", "more.cpp"]'),
    "what is allowed": in_task("[task.candidate]", '[task.allow]\ntorch = "all"\n\n[task.candidate]'),
    "a limit": in_task("[task.candidate]", "[task.limits]\ncall-s = 3\n\n[task.candidate]"),
    "which time is scored": in_task("[task.candidate]", '[task.timing]\nscore = "host"\n\n[task.candidate]'),
    "an unseen table": in_op("count = 9", "count = 10"),
    "a full case": in_op("tokens = 65536", "tokens = 65537"),
    "another case": in_op("[[op.unseen]]", '[[op.case]]\nid = "more"\nsegments = 1\ntokens = 2\ncols = 3\nT = "float32"\n\n[[op.unseen]]'),
}
CASES_TOO: dict[str, Edit] = {
    "the reference": in_file(f"{OP}/reference.py", "# better\n"),
    "a tolerance": in_op("rtol = 0.01", "rtol = 0.02"),
    "the length of a reduction": in_op("ceil_div(tokens, segments)", "tokens"),
    "a distribution": in_op("std = 3.0", "std = 2.0"),
    "a distribution's expression": in_op('expression = "offsets * cols"', 'expression = "offsets * cols + 0"'),
    "an edge": in_op('"near-zero", ', ""),
    "a constraint": in_op('"cols > 0"', '"cols > 1"'),
    "an invariant": in_op("max(slots) < segments", "max(slots) + 1 <= segments"),
    "what is static": in_op("static = true", "static = false"),
    "how outputs are compared": in_op('name = "mean"', 'name = "mean"\ncompare = "exact"'),
    "the cost": in_op("2 * tokens * cols", "3 * tokens * cols"),
    "the default of a scalar": in_op("value = 0.5", "value = 0.75"),
}


def _after(packs: Path, change: Edit) -> tuple[Plan, Plan]:
    before = lower(packs)
    change(packs)
    return before, lower(packs)


def _cases(plan: Plan) -> dict[str, str]:
    return {case.id: case.digest for case in plan.cases}


@pytest.mark.parametrize("change", NOTHING.values(), ids=NOTHING)
def test_words_change_no_digest(packs: Path, change: Edit) -> None:
    before, after = _after(packs, change)
    assert after.digests == before.digests
    assert _cases(after) == _cases(before)


@pytest.mark.parametrize("change", TASK_ALONE.values(), ids=TASK_ALONE)
def test_another_task_about_the_same_cases(packs: Path, change: Edit) -> None:
    before, after = _after(packs, change)
    assert after.digests != before.digests
    assert _cases(after) == _cases(before)


@pytest.mark.parametrize("change", CASES_TOO.values(), ids=CASES_TOO)
def test_another_question_is_another_case(packs: Path, change: Edit) -> None:
    before, after = _after(packs, change)
    assert after.digests != before.digests
    assert _cases(after)["tiny"] != _cases(before)["tiny"]


def test_a_case_is_its_values(packs: Path) -> None:
    in_op('id = "tiny"', 'id = "small"')(packs)
    in_op("tokens = 129", "tokens = 130")(packs)
    before, after = _cases(lower()), _cases(lower(packs))
    assert after["small"] == before["tiny"]
    assert after["weighted"] != before["weighted"]


def test_the_target_is_no_part_of_a_task() -> None:
    task = "arena/torch2triton-segment-mean"
    cpu, gpu = lower(task=task), lower(task=task, target="targets/h200")
    assert cpu.digests == gpu.digests
    assert _cases(cpu).items() <= _cases(gpu).items()


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing(shuffler: random.Random) -> None:
    op, task = (_rewritten(name, shuffler) for name in (OP, TASK))
    packs = shelf()

    def fetch(name: str, requirement: str) -> Loaded:
        return op if name == OP else packs.fetch(name, requirement)

    plan, usual = lower_pack(resolve_pack(task, "targets/cpu", fetch)), lower()
    assert plan.to_dict() == usual.to_dict()
    templates = resources.templates() / "harness"
    assert render_plan(plan, templates) == render_plan(usual, templates)


def _rewritten(name: str, shuffler: random.Random) -> Loaded:
    as_it_is = loaded(name)
    document = KINDS[as_it_is.kind].document.model_validate(frozen(_shuffled(raw(PACKS, name), shuffler)))
    return replace(as_it_is, document=document)  # type: ignore[arg-type]


def _shuffled(value: Any, shuffler: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffled(item, shuffler) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    shuffler.shuffle(keys)
    return {key: _shuffled(value[key], shuffler) for key in keys}


def test_lowering_twice_is_lowering_once() -> None:
    resolved = resolve()
    assert lower_pack(resolved) == lower_pack(resolved)
