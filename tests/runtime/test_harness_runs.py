"""A harness from the command line: exit codes, events, results, and the verdicts of ordinary candidates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest
from harnesses import CPP, PAGE, TORCH, Outcome, Warm, make_plan, without, write_harness


def test_a_baseline_judged_against_itself(warm: Warm, tmp_path: Path) -> None:
    harness = write_harness(tmp_path / "h.pyz", make_plan("cpp"))

    outcome = warm.run(harness, None, "--result", str(tmp_path / "result.json"))

    result = outcome.result
    assert [(gate["gate"], gate["verdict"]) for gate in result["gates"]][:3] == [("compile", "pass"), ("correct", "pass"), ("general", "pass")]
    assert outcome.verdict("fast") in ("pass", "inconclusive"), outcome.reason("fast")  # other work on the machine may disturb it
    assert result["candidate_is_baseline"] is True
    assert result["execution"] == "native"
    assert len([case for case in result["cases"] if case["gate"] == "general"]) == 9
    assert [(case["case"], case["distribution"]) for case in result["cases"][:4]] == [
        ("wide", "declared"),
        ("wide", "declared again"),
        ("wide", "large-offset"),
        ("wide", "spikes"),
    ]
    assert next((timing["case"], timing["unseen"]) for timing in result["timing"]) == ("square", False)
    assert sum(timing["unseen"] for timing in result["timing"]) == 2
    scored = result["timing"][0]
    assert scored["conditions"]["before"]["load"] >= 0 <= scored["conditions"]["after"]["load"]
    assert scored["conditions"]["set_bytes"] % (scored["sets"][1] * 2 * 64 * 64 * 4) == 0 < scored["conditions"]["set_bytes"]
    schema = json.loads((Path(__file__).parents[2] / "schemas" / "result.schema.json").read_text())
    jsonschema.validate(result, schema)
    assert {"python", "g++"} <= set(result["toolchain"]) or {"python", "clang++"} <= set(result["toolchain"])
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert not outcome.left


def test_faster_than_the_target_can_be_is_no_speedup(warm: Warm, tmp_path: Path) -> None:
    plan = make_plan("cpp")
    page = PAGE.replace('"flops": 0', '"flops": 5 * rows * cols')

    def judged(rate: float) -> Outcome:
        plan["target"]["peak"] = {"float32": rate}
        return warm.run(write_harness(tmp_path / f"{rate:g}.pyz", plan, page=page), None, "--quick")

    impossible, possible = judged(1e6), judged(1e15)

    assert impossible.verdict("fast") == "inconclusive"
    assert "2.05e+04 operations at the float32 rate of 1e+06 a second): the op's cost or the target's peak rates are wrong" in impossible.reason("fast")
    assert impossible.result["speedup"] is None
    assert possible.result["timing"][0]["roof_us"] == pytest.approx(5 * 64 * 64 / 1e15 * 1e6)
    assert "the device at least" not in possible.reason("fast")
    jsonschema.validate(possible.result, json.loads((Path(__file__).parents[2] / "schemas" / "result.schema.json").read_text()))


def test_the_same_seed_draws_the_same_cases(warm: Warm, tmp_path: Path) -> None:
    plan = make_plan("cpp")
    plan["gates"] = ["compile", "correct", "general"]
    harness = write_harness(tmp_path / "h.pyz", plan)

    first, second, other = (warm.run(harness, None, *options) for options in (["--seed", "ab" * 16], ["--seed", "AB" * 16], []))

    def drawn(outcome):
        return [(case["case"], case["values"], case["outputs"]) for case in outcome.result["cases"]]

    assert drawn(first) == drawn(second)
    assert drawn(first) != drawn(other)
    assert warm.run(harness, None, "--seed", other.result["seed"]).result["cases"] == other.result["cases"]


def test_text_output_names_the_failing_case(warm: Warm, tmp_path: Path) -> None:
    harness = write_harness(tmp_path / "h.pyz", make_plan("cpp"))

    outcome = warm.run(harness, CPP.replace("/ s;", "/ s + (c == 3);"), is_json=False)

    assert outcome.code == 1
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("compile  pass")
    assert lines[1].startswith("correct  fail")
    assert "`wide` (rows 4, cols 192, float32): y differs at [" in lines[1]
    assert "not reached: correct failed" in lines[2]
    assert lines[-1].endswith("compile pass, correct fail, general skip, fast skip")


def test_a_case_is_asked_again_after_the_others(warm: Warm, tmp_path: Path) -> None:
    """What a candidate keeps of the last shape must not be taken for a shape that returns."""
    harness = write_harness(tmp_path / "h.pyz", without(make_plan("torch"), "fast"))
    keeps = """
shapes = []
def softmax(x, y, rows, cols):
    if (rows, cols) not in shapes[-1:]:
        shapes.append((rows, cols))
    torch.softmax(x, -1, out=y) if (rows, cols) not in shapes[:-1] else y.zero_()
"""

    outcome = warm.run(harness, f"import torch\n{keeps}")

    assert outcome.verdict("correct") == "fail"
    assert outcome.reason("correct").startswith("`wide` (rows 4, cols 192, float32) after other cases: y differs at [")
    assert outcome.result["cases"][-1]["distribution"] == "declared after others"


def test_a_compile_error_comes_with_its_log(warm: Warm, tmp_path: Path) -> None:
    outcome = warm.run(write_harness(tmp_path / "h.pyz", make_plan("cpp")), "int f() { return 1 }")

    assert outcome.reason("compile").startswith("kernel.cpp:1:")
    assert "kernel.cpp:1:" in outcome.result["testimony"]["log"]


def test_events(tmp_path: Path) -> None:
    plan = make_plan("cpp")
    plan["gates"] = ["compile", "correct"]
    harness = write_harness(tmp_path / "h.pyz", plan)
    reading, writing = os.pipe()
    done = subprocess.run([sys.executable, str(harness), "--events-fd", str(writing)], pass_fds=[writing], capture_output=True, check=False)
    os.close(writing)
    with os.fdopen(reading) as stream:
        events = [json.loads(line) for line in stream]

    assert (done.returncode, done.stdout) == (0, b"")
    kinds = [event["event"] for event in events]
    assert kinds[:2] == ["gate-start", "gate"]
    assert kinds[-1] == "result"
    assert {"gate", "case", "verdict", "reason"} < set(events[kinds.index("case")])
    assert events[-1]["result"]["kind"] == "result"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--candidate", "/nowhere"], 2, "is not a folder"),
        (["--seed", "xyz"], 2, "not hexadecimal"),
        (["--nonsense"], 2, "unrecognized arguments"),
        (["--help"], 0, ""),
    ],
)
def test_usage(warm: Warm, tmp_path: Path, options: list[str], code: int, words: str) -> None:
    outcome = warm.run(write_harness(tmp_path / "h.pyz", make_plan("cpp")), None, *options)

    assert outcome.code == code
    assert words in outcome.stderr
    assert not outcome.left


def test_a_task_without_a_candidate_of_its_own(warm: Warm, tmp_path: Path) -> None:
    outcome = warm.run(write_harness(tmp_path / "h.pyz", make_plan("torch", "cpp")))

    assert outcome.code == 2
    assert "--candidate DIR" in outcome.stderr


def test_an_absent_target(warm: Warm, tmp_path: Path) -> None:
    plan = make_plan("torch")
    plan["target"] = {**plan["target"], "name": "targets/mi300x", "device": "hip"}

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan))

    assert outcome.code == 3
    assert "error:" in outcome.stderr
    assert not outcome.left


def test_a_changed_file_is_refused(warm: Warm, tmp_path: Path) -> None:
    harness = write_harness(tmp_path / "h.pyz", make_plan("cpp"))
    other = tmp_path / "other.pyz"
    with zipfile.ZipFile(harness) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name) + (b" " if name == "plan.json" else b""))

    outcome = warm.run(other)

    assert outcome.code == 5
    assert "plan.json" in outcome.stderr


def test_a_reference_that_raises_is_the_packs_fault(warm: Warm, tmp_path: Path) -> None:
    harness = write_harness(tmp_path / "h.pyz", make_plan("cpp"), reference="def softmax(x):\n    raise ValueError('no')\n")

    outcome = warm.run(harness)

    assert outcome.code == 1
    assert outcome.verdict("correct") == "inconclusive"
    assert "the reference raised ValueError: no (reference.py:2)" in outcome.reason("correct")


def test_what_the_interpreter_cannot_compute_is_left_out(warm: Warm, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    plan = make_plan("triton")
    plan["cases"][0]["values"]["T"] = "bfloat16"
    plan["unseen"][0]["draws"]["T"] = "bfloat16"

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan))

    assert outcome.verdict("correct") == "pass"
    skipped = [case for case in outcome.result["cases"] if case["verdict"] == "skip"]
    assert skipped[0]["case"] == "wide"
    assert "bfloat16" in skipped[0]["reason"]
    assert outcome.verdict("general") == "skip"
    assert (outcome.verdict("fast"), outcome.reason("fast")) == ("skip", "interpreted: only native time is speed")


def test_a_missing_entry_fails_its_dtype_only(warm: Warm, tmp_path: Path) -> None:
    plan = make_plan("cpp")
    plan["gates"] = ["compile", "correct"]
    plan["cases"][0]["values"]["T"] = "float64"

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan))

    verdicts = {(case["case"], case["verdict"]) for case in outcome.result["cases"]}
    assert verdicts == {("wide", "fail"), ("square", "pass")}
    assert 'no extern "C" function `softmax_float64`' in outcome.reason("correct")


def test_a_quick_run_is_quick(tmp_path: Path) -> None:
    """From a cold interpreter, torch's import included."""
    harness = write_harness(tmp_path / "h.pyz", make_plan("cpp"))
    done = subprocess.run([sys.executable, str(harness), "--quick"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode in (0, 1), done.stderr


_NOISY = TORCH + "    y.mul_(1 + 1e-7 * torch.rand_like(y).sub_(0.5))\n"
_ONCE = TORCH.replace("    torch", "    if x[0, 0].item() in SEEN: return\n    SEEN.add(x[0, 0].item())\n    torch").replace(
    "def softmax", "SEEN = set()\ndef softmax"
)


@pytest.mark.parametrize(
    ("candidate", "is_required", "is_repeated", "reason"),
    [
        (TORCH, True, True, ""),
        (_NOISY, False, False, ""),
        (_NOISY, True, False, "gave other bits when it was called again"),
        (_ONCE, False, False, "called again on the same contents: y was never written"),
    ],
    ids=["the same", "noise", "noise where none may be", "answers once"],
)
def test_whether_the_same_contents_give_the_same_bits(candidate: str, is_required: bool, is_repeated: bool, reason: str, warm: Warm, tmp_path: Path) -> None:
    plan = without(make_plan("torch"), "fast", "general") | ({"deterministic": True} if is_required else {})

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan), candidate)

    assert outcome.verdict("correct") == ("fail" if reason else "pass")
    assert reason in outcome.reason("correct")
    assert next(case["deterministic"] for case in outcome.result["cases"]) is is_repeated
