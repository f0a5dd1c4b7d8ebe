"""`taskpack lint`: what it prints, what it returns, and what it costs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PACKS, Taskpack

GOOD = PACKS / "arena" / "triton2triton-matmul" / "kernel.py"
BAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def clear(y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, 0.0)


def run(y, n):
    clear[(triton.cdiv(n, 256),)](y, n, B=256, num_warps=64, grf_mode="256")
"""
HEAVY = ("torch", "triton", "numpy", "pydantic", "jinja2", "cookiecutter", "tomli")


@pytest.mark.parametrize(("name", "text"), [("nothing.py", "limit = 3\n"), ("kernel.hip", "__global__ void f(float* y) { y[0] = 1; }\n")])
def test_what_no_rule_looked_at_is_not_called_clean(name: str, text: str, taskpack: Taskpack, tmp_path: Path) -> None:
    """Intel's GPUs have no rules about HIP, and a file without a kernel gives rules nothing to hold."""
    (tmp_path / name).write_text(text)
    ran = taskpack("lint", name, "--target", "arc-b70")
    assert (ran.code, ran.out.partition(" (")[0]) == (0, f"{name}: nothing that a rule is about")


def test_findings_have_places_values_and_fixes(taskpack: Taskpack, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(BAD, encoding="utf-8")
    ran = taskpack("lint", "kernel.py", "--target", "arc-b70")
    assert ran.code == 1
    first, fix, *_ = ran.out.splitlines()
    assert first.startswith("kernel.py:10:5: warning[triton/missing-mask]: clear: this store of a tile has no mask")
    assert fix.startswith("  fix: mask=at < size")
    assert "kernel.py:14:5: error[xe/large-registers]: clear: 64 warps in the large register mode (B=256, num_warps=64, grf_mode=256)" in ran.out
    assert ran.out.splitlines()[-1].startswith("kernel.py: 1 error, 1 warning (")
    assert ran.err == ""


def test_what_cannot_be_known_is_no_pass(taskpack: Taskpack) -> None:
    ran = taskpack("lint", GOOD, "--target", "arc-b70")
    assert ran.code == 0
    assert "unknown[xe/shared-local-memory]" in ran.out
    assert "`largest_element_bytes` is not known here" in ran.out


def test_a_task_tells_what_sizes_there_are(taskpack: Taskpack) -> None:
    ran = taskpack("lint", GOOD, "--target", "arc-b70", "--task", "arena/triton2triton-matmul")
    assert (ran.code, ran.out.count("unknown")) == (0, 0)


def test_json(taskpack: Taskpack, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(BAD, encoding="utf-8")
    ran = taskpack("lint", "kernel.py", "--target", "arc-b70", "--json")
    said = json.loads(ran.out)
    assert (ran.code, said["format"], said["target"], said["counts"]["error"]) == (1, 1, "targets/arc-b70", 1)
    (finding,) = [f for f in said["files"][0]["findings"] if f["level"] == "error"]
    assert (finding["rule"], finding["line"], finding["places"]) == ("xe/large-registers", 14, 1)
    assert finding["url"].startswith("https://")


def test_a_target_and_rules_of_ones_own(taskpack: Taskpack) -> None:
    target = PACKS.parent / "tests" / "formats" / "1" / "target-with-rules"
    ran = taskpack("lint", PACKS / "arena" / "triton2triton-softmax" / "examples" / "one-reading" / "kernel.py", "--target", target)
    assert ran.code == 1
    assert "error[formats/knowledge-with-everything/block]: softmax_online: 256 threads\n  fix: at most 4 warps" in ran.out
    assert ran.out.splitlines()[-1].endswith("(3 rules for formats/target-with-rules)")


def test_what_cannot_be_linted(taskpack: Taskpack, tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text("int main() {}", encoding="utf-8")
    assert taskpack("lint", "kernel.cpp", "--target", "cpu").code == 2
    assert taskpack("lint", "none.py", "--target", "cpu").code == 3
    assert "did you mean `arc-b70`?" in taskpack("lint", "none.py", "--target", "arc-b7").err
    (tmp_path / "broken.py").write_text("def f(:", encoding="utf-8")
    ran = taskpack("lint", "broken.py", "--target", "cpu")
    assert (ran.code, "nothing can be known of this file" in ran.out) == (0, True)


def test_lint_imports_nothing_heavy(tmp_path: Path) -> None:
    words = ["lint", str(GOOD), "--target", "arc-b70"]
    script = f"import sys\nfrom taskpack.cli.app import root\nroot.main({words!r}, standalone_mode=False)\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.alone
def test_lint_takes_less_than_150_ms_of_cpu_beyond_the_version() -> None:
    def cpu(*words: str) -> float:
        before = os.times()
        for _ in range(5):
            subprocess.run([sys.executable, "-m", "taskpack", *words], check=True, capture_output=True)
        after = os.times()
        return (after.children_user + after.children_system - before.children_user - before.children_system) / 5

    lint = ("lint", str(GOOD), "--target", "arc-b70")
    cpu(*lint)  # compiles what is imported
    assert cpu(*lint) - cpu("--version") < 0.150
