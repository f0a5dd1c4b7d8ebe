"""The wheel, installed in an empty environment elsewhere, does what the checkout does."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT], check=True)
    (made,) = folder.glob("taskpack-*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs the installed command. torch comes from this environment by a path, as it takes minutes to install."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home / "venv", with_pip=True)
    python = home / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel], check=True)
    (site,) = (home / "venv").glob("lib/*/site-packages")
    (site / "torch.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(*words: str, cwd: Path) -> str:
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run([python.with_name("taskpack"), *words], cwd=cwd, env=env, capture_output=True, text=True)
        # A machine that others use may leave the clock undecided; everything else must be as it should.
        assert done.returncode == 0 or "\nfast     inconclusive" in done.stdout, done.stderr
        return done.stdout

    return run


def test_what_is_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for ours in ("templates", "schemas", "packs"):
        want = {path.relative_to(ROOT).as_posix() for path in (ROOT / ours).rglob("*") if path.is_file() and not {".taskpack", "__pycache__"} & set(path.parts)}
        assert {f"taskpack/_data/{name}" for name in want} <= set(names)
    assert "taskpack/py.typed" in names
    assert not [name for name in names if "/.taskpack/" in name or "__pycache__" in name or name.startswith("tests/")]


def test_its_packs_have_no_problems(installed: Callable[..., str], tmp_path: Path) -> None:
    assert "no problems" in installed("check", "arena/hip2hip-softmax", "targets/h200", cwd=tmp_path)


@pytest.mark.parametrize(("family", "name"), [("cpp2cpp", "softmax"), ("hip2hip", "softmax"), ("torch2triton", "softmax"), ("cpp2cpp", "rows-of-mine")])
def test_from_nothing_to_a_verdict(family: str, name: str, installed: Callable[..., str], tmp_path: Path) -> None:
    installed("new", family, name, cwd=tmp_path)
    folder = tmp_path / name
    assert "no problems" in installed("check", cwd=folder)
    assert "built" in installed("build", cwd=folder)
    assert "up to date" in installed("build", cwd=folder)
    assert "general  pass" in installed("run", "--quick", cwd=folder)


def test_a_pack_that_ships_is_run_by_its_name(installed: Callable[..., str], tmp_path: Path) -> None:
    assert "arena/cpp2cpp-softmax" in installed("run", "--quick", "arena/cpp2cpp-softmax", cwd=tmp_path)
