"""What lies in a workspace, what is taken out of it, and what never gets in."""

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from taskpack.arena.briefing import brief
from taskpack.arena.work import _remove
from taskpack.arena.workspace import Workspace, diff_rest, make_workspace, take_candidate
from taskpack.compiler.lower import lower_pack
from taskpack.compiler.resolve import resolve_pack
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import open_shelf
from taskpack.packs.suite import SuitePack
from taskpack.resources import shipped_packs

from .conftest import BASELINE

Make = Callable[[], Workspace]
SUITE = load_pack(shipped_packs() / "suites" / "first-light").document
assert isinstance(SUITE, SuitePack)
TASKS = SUITE.suite.tasks


def _files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_sixteen_tasks_in_four_families() -> None:
    assert len(TASKS) == 16
    assert {name.partition("/")[2].partition("-")[0] for name in TASKS} == {"hip2hip", "triton2triton", "torch2hip", "cpp2cpp"}


@pytest.mark.parametrize("name", TASKS)
def test_nothing_that_judges_is_seen(name: str, tmp_path: Path) -> None:
    shelf = open_shelf()
    folder = shelf.find(name)
    assert folder
    briefing = brief(folder, "targets/cpu", shelf)
    make_workspace(tmp_path / "w", briefing)
    files = _files(tmp_path / "w")
    baseline = {f"baseline/{path.name}" for path in (tmp_path / "w" / "baseline").iterdir()}
    assert set(files) == {"PROMPT.md", "check", "cases.json", *baseline, *briefing.start}
    resolved = resolve_pack(load_pack(folder), "targets/cpu", shelf.fetch)
    shown = "\n".join(files.values())
    given = "\n".join(file.content.decode() for file in resolved.baseline_files.values())
    for file in resolved.reference_files.values():
        for line in file.content.decode().splitlines():
            is_telling = len(line.strip()) > 12 and not line.strip().startswith(("import", "from", '"""', "#"))
            assert not is_telling or line in given or line not in shown, line
    plan = lower_pack(resolved)
    draws = [draw for unseen in plan.unseen for name, draw in unseen.draws.items() if name in plan.names.dims and isinstance(draw, dict)]
    for rule in (rule for draw in draws for rule in draw.values() if isinstance(rule, list | tuple)):
        assert ", ".join(map(str, rule)) not in shown, rule
    for secret in ("reference.py", ".pyz", "harness", "seed"):
        assert secret not in shown.lower(), secret


def test_a_prompt_says_what_is_known_of_the_target() -> None:
    """Every rule for the language there, with the device's own numbers; and nothing where nothing is known."""
    shelf = open_shelf()
    triton, cpp = (shelf.find(f"arena/{name}-softmax") for name in ("triton2triton", "cpp2cpp"))
    assert triton and cpp  # noqa: PT018
    xe, hopper = (brief(triton, f"targets/{name}", shelf).prompt for name in ("arc-b70", "h200"))
    assert "- A work-group has at most 64 warps.\n" in xe
    assert "- num_warps is a power of two in every launch and every autotune configuration.\n" in xe
    assert "Sub-groups are 16 or 32 wide." in xe.partition("\n## What to beat")[0]
    assert "- num_warps is a power of two" in hopper
    assert "ub-group" not in hopper
    assert "What is known of" not in brief(cpp, "targets/cpu", shelf).prompt


def test_a_prompt_says_what_of_others_may_be_called() -> None:
    shelf = open_shelf()
    triton, hip, module = (shelf.find(name) for name in ("arena/triton2triton-softmax", "arena/torch2hip-softmax", "production/hf-llama-rmsnorm"))
    assert triton and hip  # noqa: PT018
    assert "torch may allocate, view, copy and cast tensors, and compute nothing, and neither libraries" in brief(triton, "targets/cpu", shelf).prompt
    assert "torch's C++ library may not be used, and no libraries of vendors" in brief(hip, "targets/cpu", shelf).prompt
    if module and importlib.util.find_spec("transformers"):
        assert "candidate's own" not in brief(module, "targets/cpu", shelf).prompt


def test_a_prompt_says_whether_answers_must_repeat(tmp_path: Path) -> None:
    packs = Path(shutil.copytree(shipped_packs(), tmp_path / "packs", ignore=shutil.ignore_patterns(".taskpack")))
    page = packs / "arena" / "cpp2cpp-softmax" / "pack.toml"

    def says() -> bool:
        shelf = open_shelf(explicit=[packs / "arena" / "cpp2cpp-softmax"])
        task = shelf.find("arena/cpp2cpp-softmax")
        assert task
        return "the same bits" in brief(task, "targets/cpu", shelf).prompt

    assert not says()
    page.write_text(page.read_text().replace('op = "ops/softmax"', 'op = "ops/softmax"\ndeterministic = true'))
    assert says()


def test_declared_files_are_taken_and_the_rest_is_a_diff(workspace: Make) -> None:
    made = workspace()
    assert take_candidate(made) == {"kernel.cpp": BASELINE.encode()}
    assert diff_rest(made) == b""
    (made.folder / "kernel.cpp").write_text("new")
    (made.folder / "notes").mkdir()
    (made.folder / "notes" / "plan.txt").write_text("one\n")
    (made.folder / "cases.json").write_text("[]")
    (made.folder / "baseline" / "kernel.cpp").unlink()
    (made.folder / "a.out").write_bytes(b"\x7fELF\0")
    assert take_candidate(made) == {"kernel.cpp": b"new"}
    diff = diff_rest(made).decode()
    assert "+++ b/notes/plan.txt" in diff
    assert "--- a/cases.json" in diff
    assert "--- a/baseline/kernel.cpp\n+++ /dev/null" in diff
    assert "a.out: no text, 5 bytes" in diff
    assert "kernel.cpp\n+++ b/kernel.cpp" not in diff


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "large", "absent"])
def test_what_is_no_plain_file_is_not_taken(kind: str, workspace: Make) -> None:
    made = workspace()
    kernel = made.folder / "kernel.cpp"
    kernel.unlink()
    match kind:
        case "link":
            kernel.symlink_to("/etc/passwd")
        case "fifo":
            os.mkfifo(kernel)
        case "folder":
            kernel.mkdir()
        case "large":
            with kernel.open("wb") as file:
                file.truncate((16 << 20) + 1)
    assert take_candidate(made) == {}


def test_a_linked_folder_leads_nowhere(workspace: Make, tmp_path: Path) -> None:
    made = workspace()
    (made.folder / "more").symlink_to("/etc")
    assert "more: a link" in diff_rest(made).decode()
    nested = Workspace(made.folder, made.initial, ("more/passwd",))
    assert take_candidate(nested) == {}


def test_a_long_diff_is_cut(workspace: Make) -> None:
    made = workspace()
    for number in range(12):
        (made.folder / f"file{number}").write_text("x" * 79 + "\n")
        (made.folder / f"many{number}").write_text(("y" * 79 + "\n") * 3000)
    diff = diff_rest(made)
    assert len(diff) <= (1 << 20) + 100
    assert diff.endswith("… and more\n".encode())


def test_names_that_are_no_text_and_folders_without_end_are_left_behind(workspace: Make) -> None:
    made = workspace()
    (made.folder / os.fsdecode(b"odd-\xff")).write_text("x\n")
    here = os.open(made.folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert b"odd-" in diff_rest(made)
    _remove(made.folder)
    assert not made.folder.exists()
