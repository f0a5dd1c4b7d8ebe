"""From words to a plan: what each pass decides, and what the verifier refuses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from taskpack.compiler.lower import PASSES
from taskpack.compiler.plan import GATES, Allow, Case, Plan, Tolerance, verify_plan
from taskpack.compiler.resolve import resolve_pack
from taskpack.errors import NotFound, UsageError
from taskpack.packs.load import load_pack
from taskpack.packs.task import Allow as AllowWords

from .conftest import OP, PACKS, TASK, edit, lower, resolve, shelf

TO_TRITON = "arena/torch2triton-segment-mean"


def test_passes_are_named_and_documented() -> None:
    assert [step.__name__ for step in PASSES][:2] == ["place_languages", "choose_start"]
    assert all(step.__doc__ for step in PASSES)


def test_a_whole_is_as_weak_as_its_weaker_side() -> None:
    plan = lower(task=TO_TRITON)
    assert (plan.baseline.execution, plan.candidate.execution, plan.execution) == ("native", "interpreted", "interpreted")
    assert lower(task=TO_TRITON, target="targets/h200").execution == "native"


def test_a_target_that_cannot_run_the_task_names_languages_that_could() -> None:
    with pytest.raises(UsageError, match="cpp does not run on targets/h200") as caught:
        lower(target="targets/h200")
    assert caught.value.hint == "languages that do: hip, torch, triton"


def test_a_cpu_is_asked_the_small_cases_and_timed_by_them() -> None:
    assert [(case.id, case.timed) for case in lower().cases] == [("tiny", True), ("weighted", True)]
    assert [table.id for table in lower().unseen] == ["unseen-1"]


def test_a_gpu_is_asked_all_cases_and_timed_by_the_full_ones() -> None:
    plan = lower(task=TO_TRITON, target="targets/h200")
    assert [(case.id, case.timed) for case in plan.cases] == [("tiny", False), ("weighted", False), ("full", True)]
    assert [table.id for table in plan.unseen] == ["unseen-1", "unseen-2"]


def test_without_full_cases_a_gpu_is_timed_by_small_ones(packs: Path) -> None:
    edit(packs / OP / "pack.toml", 'scale = "full"', 'scale = "small"')
    assert all(case.timed for case in lower(packs, TO_TRITON, "targets/h200").cases)


def test_no_case_for_the_target(packs: Path) -> None:
    text = (packs / OP / "pack.toml").read_text().replace('scale = "small"', 'scale = "full"')
    (packs / OP / "pack.toml").write_text(text)
    with pytest.raises(UsageError, match="has no case of the scale that targets/cpu is asked"):
        lower(packs)


def test_what_is_allowed_goes_with_the_language_unless_the_task_says_otherwise(packs: Path) -> None:
    assert lower(packs).allow == lower(packs, TO_TRITON).allow == Allow("none", vendor_libraries=False)
    edit(packs / TO_TRITON / "pack.toml", "[task.candidate]", '[task.allow]\ntorch = "elementwise"\n\n[task.candidate]')
    assert lower(packs, TO_TRITON).allow == Allow("elementwise", vendor_libraries=False)
    edit(packs / TO_TRITON / "pack.toml", 'torch = "elementwise"', "vendor-libraries = true")
    assert lower(packs, TO_TRITON).allow == Allow("none", vendor_libraries=True)


@pytest.mark.parametrize(
    ("language", "is_module", "is_free"), [("torch", False, True), ("triton", True, True), ("triton", False, False), ("cuda", False, False)]
)
def test_what_is_allowed_by_default(language: str, is_module: bool, is_free: bool) -> None:
    allow = AllowWords.model_construct().resolved(language, is_module)
    assert (allow.torch, allow.vendor_libraries) == (("all", True) if is_free else ("none", False))


def test_flags_and_scalars_have_defaults() -> None:
    tiny, weighted = (case.values for case in lower().cases)
    assert (tiny["weighted"], tiny["gain"]) == (False, 0.5)
    assert (weighted["weighted"], weighted["gain"]) == (True, 0.25)
    assert lower().unseen[0].draws["gain"] == 0.5


def test_draws_of_floats_are_floats(packs: Path) -> None:
    edit(packs / OP / "pack.toml", "cols = { choice = [1, 7, 33] }", "cols = { choice = [1, 7, 33] }\ngain = { range = [0, 2] }")
    draws = lower(packs).unseen[0].draws
    assert repr(draws["gain"]) == "{'range': [0.0, 2.0]}"
    assert draws["tokens"] == {"range": (20, 300), "not-multiple-of": 32}


def test_tolerances_are_the_outputs_own_or_the_ops() -> None:
    assert lower().tolerance == {"total": Tolerance(0.01, None, "it sums what is rounded to T before"), "mean": Tolerance()}


def test_names_stand_as_tensors_use_them() -> None:
    names = lower().names
    assert (names.dims, names.dtypes, names.flags, names.scalars) == (("tokens", "cols", "segments"), ("T",), ("weighted",), ("gain",))


def test_which_candidate_is_judged_where_none_is_given(packs: Path) -> None:
    assert lower(packs).candidate.start == "baseline"
    assert lower(packs, TO_TRITON).candidate.start == "start"
    edit(packs / TO_TRITON / "pack.toml", 'start = "start"\n', "")
    assert lower(packs, TO_TRITON).candidate.start is None
    edit(packs / TASK / "pack.toml", '[task.candidate]\nfiles = ["kernel.cpp"]', '[task.candidate]\nfiles = ["other.cpp"]')
    assert lower(packs).candidate.start is None


def test_limits_are_said_or_the_houses() -> None:
    assert lower(task=TO_TRITON).limits == replace(lower().limits, call_s=10)  # type: ignore[type-var]
    assert (lower().timing.score, lower(task=TO_TRITON).timing.score) == ("device", "host")  # type: ignore[union-attr]


def test_only_tasks_and_targets() -> None:
    with pytest.raises(UsageError, match="of the kind `op`: only tasks and models are built"):
        resolve(task=OP)
    with pytest.raises(UsageError, match="of the kind `op`, not a target"):
        resolve(target=OP)


def test_dependencies_must_be_there(packs: Path) -> None:
    (packs / OP / "pack.toml").unlink()
    with pytest.raises(NotFound, match="there is no pack `ops/segment-mean`"):
        resolve_pack(load_pack(packs / TASK), "targets/cpu", shelf(packs).fetch)


def test_line_endings_travel_as_they_are(packs: Path) -> None:
    (packs / TASK / "kernel.cpp").write_bytes(b"int x;\r\n")
    assert resolve(packs).baseline_files["kernel.cpp"].content == b"int x;\r\n"


def test_the_plan_is_made_of_jsons_own_types() -> None:
    def check(value: object) -> None:
        if isinstance(value, dict):
            assert all(isinstance(key, str) for key in value)
            for item in value.values():
                check(item)
        elif isinstance(value, list):
            for item in value:
                check(item)
        else:
            assert value is None or type(value) in (bool, int, float, str)

    check(lower(PACKS).to_dict())


BROKEN: dict[str, Callable[[Plan], Plan]] = {
    "a name is declared twice": lambda plan: replace(plan, arguments=(*plan.arguments, plan.arguments[0])),
    "unknown role": lambda plan: replace(plan, arguments=(replace(plan.arguments[0], role="guest"), *plan.arguments[1:])),
    "which is not an argument": lambda plan: replace(plan, baseline=replace(plan.baseline, arguments=("z",))),
    "case tiny gives": lambda plan: replace(plan, cases=(Case("tiny", "small", {}),)),
    "unseen-1 draws": lambda plan: replace(plan, unseen=(replace(plan.unseen[0], draws={}),)),
    "which is not an output": lambda plan: replace(plan, tolerance={"x": Tolerance()}),
    "unknown gates": lambda plan: replace(plan, gates=(*GATES, "luck")),
    "is placed nowhere": lambda plan: replace(plan, candidate=replace(plan.candidate, execution="")),
    "no case is timed": lambda plan: replace(plan, cases=()),
    "has no digest": lambda plan: replace(plan, cases=tuple(replace(case, digest="") for case in plan.cases)),
    "no limits": lambda plan: replace(plan, limits=None),
    "no gates": lambda plan: replace(plan, gates=()),
    "no task digest": lambda plan: replace(plan, digests={}),
    "an output has no tolerance": lambda plan: replace(plan, tolerance={}),
    "a tensor has no shape": lambda plan: replace(plan, program=replace(plan.program, shapes={})),
    "an input has no init": lambda plan: replace(plan, program=replace(plan.program, inits={})),
}


@pytest.mark.parametrize("wrong", BROKEN)
def test_a_plan_that_contradicts_itself_is_a_bug(wrong: str) -> None:
    plan = lower()
    verify_plan(plan)
    with pytest.raises(AssertionError, match=wrong):
        verify_plan(BROKEN[wrong](plan))
