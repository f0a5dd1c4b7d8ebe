"""Builds on disk: the same bytes anywhere, nothing where nothing changed, and never half a file."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskpack import resources
from taskpack.compiler.build import Built, build_pack
from taskpack.errors import PackInvalid, UsageError

from .conftest import OP, PACKS, TASK, edit, shelf

ROOT = Path(__file__).parents[2]

_BUILD = """
import json, sys
from pathlib import Path
from taskpack.compiler.build import build_pack
from taskpack.packs.shelf import open_shelf
packs = Path(sys.argv[1])
built = build_pack(packs / sys.argv[2], "targets/cpu", open_shelf((packs,)))
heavy = sorted({"pydantic", "jinja2", "torch", "triton"} & set(sys.modules))
print(json.dumps([str(built.path), built.harness_digest, built.task_digest, built.is_up_to_date, heavy]))
"""


def build(packs: Path) -> Built:
    return build_pack(packs / TASK, "targets/cpu", shelf(packs))


def build_apart(packs: Path, checkout: Path = ROOT, *, umask: int = 0o022, **environment: str) -> tuple[Built, list[str]]:
    """Builds in a process of its own, with the taskpack of `checkout`; returns which heavy modules it imported, too."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(checkout), "HOME": str(packs), **environment}
    command = [sys.executable, "-c", _BUILD, packs, TASK]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=packs, umask=umask)
    assert done.returncode == 0, done.stderr
    path, harness, task, is_up_to_date, heavy = json.loads(done.stdout)
    return Built(Path(path), harness, task, is_up_to_date), heavy


def test_what_is_made_stands_in_the_packs_folder(packs: Path) -> None:
    built = build(packs)
    made = packs / TASK / ".taskpack"
    assert built.path == made / "build" / "cpu.pyz"
    assert not built.is_up_to_date
    assert (made / ".gitignore").read_text() == "*\n"
    assert (made / "task.schema.json").read_bytes() == (resources.schemas() / "task.schema.json").read_bytes()
    assert sorted(path.name for path in (made / "build").iterdir()) == ["cpu.json", "cpu.pyz"]
    assert built.path.stat().st_mode & stat.S_IXUSR


def test_same_bytes_anywhere(tmp_path: Path) -> None:
    """Another checkout of taskpack in another folder, and another everything."""
    places = [tmp_path / "one" / "packs", tmp_path / "another place" / "pàcks"]
    for place in places:
        shutil.copytree(PACKS, place, ignore=shutil.ignore_patterns(".taskpack"))
    checkout = _copy_of_taskpack(tmp_path / "checkout")
    first, _ = build_apart(places[0], PYTHONHASHSEED="1", TZ="Asia/Tokyo", LC_ALL="C")
    other, _ = build_apart(places[1], checkout, umask=0o077, PYTHONHASHSEED="2", TZ="America/New_York", LC_ALL="C.UTF-8")
    assert other.path.read_bytes() == first.path.read_bytes()
    assert (other.harness_digest, other.task_digest) == (first.harness_digest, first.task_digest)


def test_another_runtime_is_another_harness_of_the_same_task(packs: Path, tmp_path: Path) -> None:
    checkout = _copy_of_taskpack(tmp_path / "checkout")
    before, _ = build_apart(packs, checkout)
    with (checkout / "taskpack" / "runtime" / "clock.py").open("a") as file:
        file.write("# better\n")
    after, _ = build_apart(packs, checkout)
    assert not after.is_up_to_date
    assert after.harness_digest != before.harness_digest
    assert after.task_digest == before.task_digest


def _copy_of_taskpack(folder: Path) -> Path:
    folder.mkdir()
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name in ("taskpack", "templates", "schemas", "packs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".taskpack"))
    return folder


def test_a_second_build_does_nothing_and_loads_nothing(packs: Path) -> None:
    first, heavy = build_apart(packs)
    assert {"pydantic", "jinja2"} <= set(heavy)
    written = first.path.stat()
    again, heavy = build_apart(packs)
    assert heavy == []
    assert again == Built(first.path, first.harness_digest, first.task_digest, is_up_to_date=True)
    assert (again.path.stat().st_ino, again.path.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)


def test_files_that_were_only_touched(packs: Path) -> None:
    build(packs)
    for path in (packs / OP / "pack.toml", packs / TASK / "pack.toml", packs / TASK / "kernel.cpp"):
        os.utime(path, (0, 0))
    assert build(packs).is_up_to_date


def test_line_endings_of_a_pack_toml_mean_nothing(packs: Path) -> None:
    build(packs)
    content = (packs / TASK / "pack.toml").read_bytes()
    (packs / TASK / "pack.toml").write_bytes(content.replace(b"\n", b"\r\n"))
    assert build(packs).is_up_to_date


@pytest.mark.parametrize("name", [f"{TASK}/kernel.cpp", f"{OP}/reference.py"])
def test_another_input_is_another_harness(packs: Path, name: str) -> None:
    first = build(packs)
    before = (packs / name).stat()
    content = (packs / name).read_bytes()
    (packs / name).write_bytes(content[:-1] + b" ")
    os.utime(packs / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = build(packs)
    assert not after.is_up_to_date
    assert after.harness_digest != first.harness_digest


def test_words_make_the_same_harness_again_without_writing_it(packs: Path) -> None:
    first = build(packs)
    edit(packs / OP / "pack.toml", "Mean of each", "Average of each")
    written = first.path.stat().st_mtime_ns
    assert build(packs) == Built(first.path, first.harness_digest, first.task_digest, is_up_to_date=True)
    assert first.path.stat().st_mtime_ns == written


def test_a_harness_that_was_changed_is_made_again(packs: Path) -> None:
    first = build(packs)
    content = first.path.read_bytes()
    first.path.write_bytes(content[:-1])
    assert not build(packs).is_up_to_date
    assert first.path.read_bytes() == content
    first.path.unlink()
    assert build(packs).path.read_bytes() == content


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 2}', "\x00"])
def test_a_stamp_that_cannot_be_read_is_none(packs: Path, content: str) -> None:
    first = build(packs)
    first.path.with_suffix(".json").write_text(content)
    assert build(packs) == Built(first.path, first.harness_digest, first.task_digest, is_up_to_date=True)
    assert json.loads(first.path.with_suffix(".json").read_bytes())["product"]


def test_a_copied_pack_does_not_believe_the_stamp_that_came_along(packs: Path) -> None:
    """Its op stands elsewhere now, and has changed there."""
    build(packs)
    other = Path(shutil.copytree(packs, packs.parent / "other"))
    edit(packs / OP / "pack.toml", "std = 3.0", "std = 2.0")
    shutil.copytree(packs / OP, other / OP, dirs_exist_ok=True)
    assert not build(other).is_up_to_date


def test_a_name_that_means_another_pack_now(packs: Path) -> None:
    build(packs)
    nearer = packs.parent / "nearer"
    shutil.copytree(packs / OP, nearer / OP)
    edit(nearer / OP / "pack.toml", "std = 3.0", "std = 2.0")
    from taskpack.packs.shelf import open_shelf

    assert not build_pack(packs / TASK, "targets/cpu", open_shelf((nearer, packs))).is_up_to_date


def test_out_is_written_and_nothing_else(packs: Path, tmp_path: Path) -> None:
    out = tmp_path / "some" / "where.pyz"
    built = build_pack(packs / TASK, "targets/cpu", shelf(packs), out=out)
    assert built.path == out
    assert out.read_bytes() == build(packs).path.read_bytes()
    shutil.rmtree(packs / TASK / ".taskpack")
    assert build_pack(packs / TASK, "targets/cpu", shelf(packs), out=out).is_up_to_date
    assert not (packs / TASK / ".taskpack").exists()


def test_mistakes_come_all_at_once_and_leave_the_old_harness(packs: Path) -> None:
    first = build(packs)
    edit(packs / TASK / "pack.toml", '"x", "offsets"', '"x", "ofsets"')
    with pytest.raises(PackInvalid) as caught:
        build(packs)
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {"P075", "P076"}
    assert first.path.exists()


def test_only_tasks_are_built(packs: Path) -> None:
    with pytest.raises(UsageError, match="of the kind `op`: only tasks and models are built"):
        build_pack(packs / OP, "targets/cpu", shelf(packs))
    assert not (packs / OP / ".taskpack").exists()


_CUT = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on the size of files")
def test_a_build_that_is_killed_half_way_leaves_what_was_there(packs: Path) -> None:
    """The kernel kills the process in the middle of writing the harness."""
    kernel = packs / TASK / "kernel.cpp"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _CUT + _BUILD, packs, TASK]
    assert subprocess.run(command, env=env, capture_output=True).returncode == -signal.SIGXFSZ
    product = packs / TASK / ".taskpack" / "build" / "cpu.pyz"
    assert not product.exists()
    first = build(packs)
    old = first.path.read_bytes()
    kernel.write_text(kernel.read_text() + "// changed\n")
    assert subprocess.run(command, env=env, capture_output=True).returncode == -signal.SIGXFSZ
    assert first.path.read_bytes() == old
    assert not build(packs).is_up_to_date
    assert sorted(path.name for path in product.parent.glob("[!.]*")) == ["cpu.json", "cpu.pyz"]


_AS_ANOTHER = """
import os, sys
from pathlib import Path
from taskpack.compiler.build import build_pack
from taskpack.packs.shelf import open_shelf
packs = Path(sys.argv[1])
build_pack(packs / sys.argv[2], "targets/cpu", open_shelf((packs,)), out=packs.parent / "x.pyz")  # imports all, which another user may not
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach, which those of pytest are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    (folder / "packs" / TASK).chmod(0o755)
    shutil.rmtree(folder)


def test_a_pack_that_cannot_be_written_to_is_built_in_the_cache(open_folder: Path) -> None:
    packs = Path(shutil.copytree(PACKS, open_folder / "packs", ignore=shutil.ignore_patterns(".taskpack")))
    cache = open_folder / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    (packs / TASK).chmod(0o555)
    for name in ("taskpack", "schemas", "templates", "packs"):  # another user may not reach the checkout
        shutil.copytree(ROOT / name, open_folder / "house" / name, ignore=shutil.ignore_patterns("__pycache__", ".taskpack"))
    shutil.copy(ROOT / "pyproject.toml", open_folder / "house")
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(open_folder / "house"), "XDG_CACHE_HOME": str(cache)}
    for is_up_to_date in (False, True):
        done = subprocess.run([sys.executable, "-c", _AS_ANOTHER + _BUILD, packs, TASK], cwd=open_folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        path, _, _, said, _ = json.loads(done.stdout)
        assert Path(path).is_relative_to(cache / "taskpack" / "build")
        assert said is is_up_to_date
    assert not (packs / TASK / ".taskpack").exists()
