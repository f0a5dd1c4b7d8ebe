"""What is known of a target reaches the plans of tasks that it is about, and no others."""

import json
from pathlib import Path

from taskpack.compiler.build import emit
from taskpack.packs.shelf import open_shelf
from taskpack.resources import shipped_packs


def plan_of(task: str, target: str, *roots: Path) -> dict:
    return json.loads(emit(shipped_packs() / "arena" / task, target, open_shelf(roots), "plan"))


def test_rules_and_the_facts_that_they_see() -> None:
    plan = plan_of("triton2triton-matmul", "targets/arc-b70")
    assert plan["gates"] == ["compile", "rules", "correct", "general", "fast"]
    assert {rule["rule"].partition("/")[0] for rule in plan["rules"]["rules"]} == {"triton", "xe"}
    sizes = [case["values"] for case in plan["cases"]]
    assert plan["rules"]["facts"]["largest_tensor_elements"] == max(max(v["m"] * v["n"], v["m"] * v["k"], v["k"] * v["n"]) for v in sizes)
    assert "clock_hz" not in plan["rules"]["facts"], "no rule looks at it"


def test_what_rules_do_not_apply_to_is_left_as_it_is() -> None:
    plan = plan_of("cpp2cpp-matmul", "targets/cpu")
    assert "rules" not in plan
    assert "rules" not in plan["gates"]


def test_each_language_has_its_own_rules() -> None:
    rules = plan_of("torch2hip-matmul", "targets/cpu")["rules"]
    assert {rule["rule"].partition("/")[0] for rule in rules["rules"]} == {"hip"}
    assert rules["facts"] == {"max_threads_per_block": 1024, "shared_memory_bytes": 65536}


def test_knowledge_does_not_change_what_a_task_is(tmp_path: Path) -> None:
    folder = tmp_path / "local" / "bare"
    folder.mkdir(parents=True)
    text = (shipped_packs() / "targets" / "cpu" / "pack.toml").read_text(encoding="utf-8").replace('"targets/cpu"', '"local/bare"')
    (folder / "pack.toml").write_text(text.replace('knowledge = ["knowledge/hip", "knowledge/triton"]\n', ""), encoding="utf-8")
    with_rules, without = plan_of("triton2triton-softmax", "targets/cpu"), plan_of("triton2triton-softmax", "local/bare", tmp_path)
    assert with_rules["digests"] == without["digests"]
    assert [case["digest"] for case in with_rules["cases"]] == [case["digest"] for case in without["cases"]]
    assert ("rules" in with_rules, "rules" in without) == (True, False)
