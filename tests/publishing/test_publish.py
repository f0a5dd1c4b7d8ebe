"""Publishing: what is written, what is refused, and which bump a change needs."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from taskpack.digest import digest_bytes
from taskpack.errors import Conflict, Exit, UsageError
from taskpack.publishing.publish import PublishRefused, Report, publish
from taskpack.registry.archive import content_digest
from taskpack.registry.index import Index, begin_folder, begin_index, fetch_files
from taskpack.registry.log import replay
from taskpack.registry.store import MemoryStore

from .conftest import edit


@pytest.fixture
def index() -> Index:
    return begin_index(MemoryStore())


def _version(folder: Path, old: str, new: str) -> None:
    edit(folder, (f'version = "{old}"', f'version = "{new}"'))


def _refusals(call: Callable[[], Report]) -> dict[str, str]:
    with pytest.raises(PublishRefused) as caught:
        call()
    assert caught.value.exit_code == Exit.FAILED
    return {rule: reason for rule, reason in caught.value.report.verdicts if reason}


def test_what_is_published_can_be_fetched(op: Path, index: Index) -> None:
    report = publish(op, index)
    assert (report.name, report.release.version, report.changes) == ("demo/sum", "1.0.0", "first version")
    assert [path for path, _ in report.files] == ["pack.toml", "reference.py"]
    assert report.event
    assert report.event.seq == 1
    files = fetch_files(index.store, report.release)
    assert content_digest(files) == report.release.content
    assert {file.path: file.content for file in files} == {path.name: path.read_bytes() for path in op.iterdir()}
    assert replay(index.store, "demo/sum").releases == {"1.0.0": (1, report.release)}


def test_a_dry_run_writes_nothing(op: Path, index: Index) -> None:
    before = list(index.store.keys(""))
    rehearsed = publish(op, index, is_rehearsal=True)
    assert list(index.store.keys("")) == before
    assert publish(op, None, is_rehearsal=True).release == rehearsed.release
    real = publish(op, index)
    assert rehearsed.event
    assert real.event
    assert (rehearsed.event.to_dict() | {"at": 0}) == (real.event.to_dict() | {"at": 0})


def test_the_same_content_again_is_no_event(op: Path, index: Index) -> None:
    publish(op, index)
    assert publish(op, index).event is None
    assert replay(index.store, "demo/sum").seq == 1


def test_a_version_is_not_published_twice(op: Path, index: Index) -> None:
    publish(op, index)
    edit(op, ('"square"', '"quadratic"'))
    with pytest.raises(Conflict, match=r"`pack.toml` differs; .*case `square` is gone") as caught:
        publish(op, index)
    assert caught.value.exit_code == Exit.CONFLICT


def test_dependencies_come_from_where_others_will_get_them(op: Path, task: Path, index: Index) -> None:
    refused = _refusals(lambda: publish(task, index))
    assert "there is no pack `demo/sum`" in refused["dependencies can be had"]
    publish(op, index)
    assert publish(task, index).event


def test_every_broken_rule_is_told_at_once(task: Path, index: Index) -> None:
    edit(task, ('"demo/cpp-sum"', '"local/cpp-sum"'), ('"Apache-2.0"', '"none"'), ("Row sums", "Row\\u001b sums"))
    assert list(_refusals(lambda: publish(task, index))) == [
        "check passes", "licence is present", "words can be shown", "namespace is yours", "dependencies can be had",
    ]  # fmt: skip


def test_check_sees_what_travels_and_not_what_stays(op: Path, index: Index) -> None:
    (op / ".hidden").mkdir()
    (op / "reference.py").rename(op / ".hidden" / "reference.py")
    edit(op, ("reference.py:", ".hidden/reference.py:"))
    reason = _refusals(lambda: publish(op, index))["check passes"]
    assert re.search(r"sum/pack.toml:\d+:\d+: error\[P040\]", reason)


def test_versions_grow(op: Path, index: Index) -> None:
    publish(op, index)
    _version(op, "1.0.0", "0.9.0")
    assert _refusals(lambda: publish(op, index)) == {"version grows": "0.9.0 does not come after 1.0.0"}


BREAKING = {
    "tolerance": ('reduction = "cols"', 'reduction = "cols"\nrtol = 0.5\nreason = "because"', "tolerance y changed"),
    "reduction": ('reduction = "cols"', 'reduction = "2 * cols"', "reductions y changed"),
    "case-changed": ("rows = 96", "rows = 97", "case `square` changed"),
    "case-gone": ('id = "square"', 'id = "other"', "case `square` is gone"),
    "scale": ('id = "long-rows"\nscale = "full"', 'id = "long-rows"\nscale = "small"', "case `long-rows` changed"),
    "init": ("mean = 0.25", "mean = 0.5", "inits x changed"),
    "edges": (', "near-zero"]', "]", "tensors changed"),
    "constraint": ('"cols > 0"', '"cols > 1"', "constraints changed"),
    "cost": ("rows * (cols + 1)", "2 * rows * (cols + 1)", "cost bytes changed"),
    "unseen-changed": ("range = [1, 1500]", "range = [1, 1400]", "unseen table"),
}
_WIDE, _FIRST_TABLE = '[[op.case]]\nid = "wide"', '[[op.unseen]]\nscale = "small"\ncount = 8'
_NEW_CASE = '[[op.case]]\nid = "new"\nscale = "small"\nrows = 3\ncols = 5\nT = "float32"\n\n'
_NEW_TABLE = '[[op.unseen]]\nscale = "small"\ncount = 2\nrows = 9\ncols = 9\nT = "float16"\n\n'
ADDED = {"case": (_WIDE, _NEW_CASE + _WIDE, "case `new` is new"), "unseen": (_FIRST_TABLE, _NEW_TABLE + _FIRST_TABLE, "is new")}
WORDS = {
    "summary": ("Sum along", "The sum along"),
    "doc": ("accumulated in float32", "accumulated in float64"),
    "spaces-in-expressions": ("rows * (cols + 1) * sizeof(T)", "rows*(cols+1)*sizeof(T)"),
    "comment": ("# A mean", "# The mean"),
}


@pytest.mark.parametrize("change", BREAKING)
def test_what_breaks_comparability_needs_a_major(change: str, op: Path, index: Index) -> None:
    old, new, named = BREAKING[change]
    publish(op, index)
    edit(op, (old, new))
    for version in ("1.0.1", "1.1.0"):
        edit(op, (re.search(r'version = "[^"]*"', (op / "pack.toml").read_text())[0], f'version = "{version}"'))  # type: ignore[index]
        refused = _refusals(lambda: publish(op, index))
        assert list(refused) == ["bump fits the change"]
        assert named in refused["bump fits the change"]
        assert "that needs 2.0.0" in refused["bump fits the change"]
    _version(op, "1.1.0", "2.0.0")
    assert publish(op, index).event


@pytest.mark.parametrize("change", ADDED)
def test_additions_need_a_minor(change: str, op: Path, index: Index) -> None:
    old, new, named = ADDED[change]
    publish(op, index)
    edit(op, (old, new))
    _version(op, "1.0.0", "1.0.1")
    reason = _refusals(lambda: publish(op, index))["bump fits the change"]
    assert named in reason
    assert "that needs 1.1.0" in reason
    _version(op, "1.0.1", "1.1.0")
    assert publish(op, index).changes.startswith("since 1.0.0: additions only")


@pytest.mark.parametrize("change", WORDS)
def test_words_are_a_patch(change: str, op: Path, index: Index) -> None:
    publish(op, index)
    edit(op, WORDS[change])
    _version(op, "1.0.0", "1.0.1")
    assert publish(op, index).changes == "since 1.0.0: words only"


def test_the_reference_is_part_of_the_question(op: Path, index: Index) -> None:
    publish(op, index)
    (op / "reference.py").write_text((op / "reference.py").read_text() + "\n\nX = 1\n")
    _version(op, "1.0.0", "1.1.0")
    assert "reference changed" in _refusals(lambda: publish(op, index))["bump fits the change"]


def test_below_1_0_a_minor_may_break(op: Path, task: Path, index: Index) -> None:
    publish(op, index)
    publish(task, index)
    (task / "kernel.cpp").write_text((task / "kernel.cpp").read_text() + "\n// another baseline\n")
    _version(task, "0.1.0", "0.1.1")
    reason = _refusals(lambda: publish(task, index))["bump fits the change"]
    assert "baseline files changed" in reason
    assert "that needs 0.2.0" in reason
    _version(task, "0.1.1", "0.2.0")
    assert publish(task, index).event


def test_a_changed_op_changes_the_tasks_about_it(op: Path, task: Path, index: Index) -> None:
    publish(op, index)
    publish(task, index)
    edit(op, BREAKING["tolerance"][:2])
    _version(op, "1.0.0", "2.0.0")
    publish(op, index)
    edit(task, ('"^1.0"', '"^2.0"'))
    _version(task, "0.1.0", "0.1.1")
    assert "tolerance y changed" in _refusals(lambda: publish(task, index))["bump fits the change"]


def test_a_pre_release_promises_nothing(op: Path, index: Index) -> None:
    publish(op, index)
    _version(op, "1.0.0", "2.0.0-rc.1")
    edit(op, BREAKING["tolerance"][:2])
    publish(op, index)
    edit(op, ("rtol = 0.5", "rtol = 0.25"))
    _version(op, "2.0.0-rc.1", "2.0.0-rc.2")
    publish(op, index)
    _version(op, "2.0.0-rc.2", "2.0.0")
    assert publish(op, index).changes == "since 1.0.0: scores are no longer comparable: tolerance y changed"


def test_targets_are_compared_number_by_number(knowing: Path, index: Index) -> None:
    text = (knowing / "pack.toml").read_text()
    version = re.search(r'version = "([^"]*)"', text)[1]  # type: ignore[index]
    edit(knowing, (f'"{version}"', '"1.0.0"'))
    publish(knowing, index)
    edit(knowing, ('"1.0.0"', '"1.0.1"'), ("warp-size = { value = 64", "warp-size = { value = 32"))
    assert "target.limits.warp-size.value changed" in _refusals(lambda: publish(knowing, index))["bump fits the change"]


def test_a_folder_that_is_no_index_is_not_made_one(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match="no index, and not empty"):
        begin_folder(tmp_path)


def test_threads_that_publish_the_same(op: Path, tmp_path: Path) -> None:
    index = begin_folder(tmp_path / "index")
    reports: list[Report] = []
    running = [threading.Thread(target=lambda: reports.append(publish(op, index))) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert sorted(report.event is None for report in reports) == [False, True, True, True]
    raw = (tmp_path / "index/pkg/demo/sum/log/00000001.json").read_bytes()
    assert json.loads((tmp_path / "index/pkg/demo/sum/index.json").read_bytes())["head"] == digest_bytes(raw)
