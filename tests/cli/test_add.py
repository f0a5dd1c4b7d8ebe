"""`taskpack add`, and the other verbs with what was installed: found by name, never written into, never run without walls unless trusted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PACKS, Taskpack

_WITHOUT_WALLS = """
import ctypes, os, sys
from pathlib import Path
uid, gid = os.getuid(), os.getgid()
assert ctypes.CDLL(None).unshare(0x10000000) == 0
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
Path("/proc/sys/user/max_user_namespaces").write_text("0")
os.execv(sys.executable, [sys.executable, "-m", "taskpack", *sys.argv[1:]])
"""
"""The command in a user namespace that allows no others."""


@pytest.fixture
def project(taskpack: Taskpack, tmp_path: Path) -> Path:
    """A folder in which `demo/cpp-sum` has been added; its index is beside it."""
    pack = tmp_path / "pack"
    shutil.copytree(PACKS / "arena/cpp2cpp-reduce-sum", pack, ignore=shutil.ignore_patterns(".taskpack"))
    file = pack / "pack.toml"
    file.write_text(file.read_text().replace("arena/cpp2cpp-reduce-sum", "demo/cpp-sum"))
    assert taskpack("publish", pack, "--index", tmp_path / "index").code == 0
    shutil.rmtree(pack)
    (tmp_path / "project").mkdir()
    added = taskpack("add", "demo/cpp-sum", "--index", tmp_path / "index", cwd=tmp_path / "project")
    assert added.code == 0, added.err
    assert added.out.splitlines()[-1] == "pinned in taskpack.lock"
    return tmp_path / "project"


def _installed(home: Path, project: Path) -> Path:
    said = (project / "taskpack.lock").read_text()
    content = next(line for line in said.splitlines() if line.startswith("content")).split(":")[1].strip('"')
    return home / ".cache" / "taskpack" / "packs" / content


def test_other_verbs_find_it_by_name(taskpack: Taskpack, project: Path, home: Path) -> None:
    before = sorted(_installed(home, project).rglob("*"))
    assert taskpack("check", "demo/cpp-sum", cwd=project).out == "checked 1 pack: no problems\n"
    plan = taskpack("build", "demo/cpp-sum", "--target", "cpu", "--emit", "plan", cwd=project)
    assert json.loads(plan.out)["task"] == "demo/cpp-sum"
    built = taskpack("build", "demo/cpp-sum", "--target", "cpu", cwd=project)
    assert built.code == 0
    assert taskpack("build", "demo/cpp-sum", "--target", "cpu", cwd=project).out.endswith("up to date\n")
    assert sorted(_installed(home, project).rglob("*")) == before
    assert taskpack("check", "demo/cpp-sum", cwd=project.parent).code == 3, "only where it was added"


def test_exit_codes(taskpack: Taskpack, project: Path, home: Path) -> None:
    index = project.parent / "index"
    for word, code in (("demo/none", 3), ("Demo/x", 2), ("demo/cpp-sum@latest", 2), ("demo/cpp-sum@^9.0", 4)):
        assert taskpack("add", word, "--index", index, cwd=project).code == code, word
    assert taskpack("add", "demo/cpp-sum", "--index", project, cwd=project).code == 3
    said = json.loads(taskpack("add", "demo/cpp-sum@0.1.0", "--index", index, "--json", cwd=project).out)
    assert [row["name"] for row in said["packs"]] == ["demo/cpp-sum", "ops/reduce-sum"]
    kernel = _installed(home, project) / "kernel.cpp"
    good = kernel.read_bytes()
    kernel.write_bytes(b"int x;\n")
    altered = taskpack("build", "demo/cpp-sum", cwd=project)
    kernel.write_bytes(good)
    assert altered.code == 5
    assert "has been altered" in altered.err


def test_it_runs_behind_walls_and_the_run_is_kept_here(taskpack: Taskpack, project: Path) -> None:
    (project / "broken").mkdir()
    (project / "broken" / "kernel.cpp").write_text("nothing\n")
    ran = taskpack("run", "demo/cpp-sum", "--target", "cpu", "--json", "--candidate", "broken", cwd=project)
    result = json.loads(ran.out)
    assert (ran.code, result["isolation"], result["gates"][0]["verdict"]) == (1, "namespaces", "fail"), ran.err
    assert len(list((project / ".taskpack" / "runs").iterdir())) == 1


def test_without_walls_it_runs_only_if_trusted(project: Path, home: Path) -> None:
    words = ["run", "demo/cpp-sum", "--target", "cpu", "--quick"]
    env = os.environ | {"HOME": str(home), "PYTHONPATH": str(PACKS.parent)}
    ran = subprocess.run([sys.executable, "-c", _WITHOUT_WALLS, *words], cwd=project, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    assert "none was run" in ran.stderr
    assert "--trust" in ran.stderr


def test_required_isolation_holds_for_ones_own_packs_too(project: Path, home: Path) -> None:
    own = PACKS / "arena" / "cpp2cpp-matmul"
    env = os.environ | {"HOME": str(home), "PYTHONPATH": str(PACKS.parent)}
    for verb in (["run", str(own)], ["run", str(PACKS / "suites" / "first-light"), "--agent", "none"]):
        words = [*verb, "--target", "cpu", "--quick", "--require-isolation"]
        ran = subprocess.run([sys.executable, "-c", _WITHOUT_WALLS, *words], cwd=project, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 2, ran.stderr
        assert "lends no namespaces" in ran.stderr


@pytest.mark.slow
def test_trust_is_remembered(project: Path, home: Path) -> None:
    env = os.environ | {"HOME": str(home), "PYTHONPATH": str(PACKS.parent)}
    for more in (["--trust"], []):
        words = ["run", "demo/cpp-sum", "--target", "cpu", "--quick", "--json", *more]
        ran = subprocess.run([sys.executable, "-c", _WITHOUT_WALLS, *words], cwd=project, env=env, capture_output=True, text=True, check=False)
        assert json.loads(ran.stdout)["isolation"] == "process", ran.stderr
    shutil.rmtree(home / ".cache" / "taskpack" / "trusted")
