"""Adding: what is pinned, what is compared, and that nothing is used which is not what was published."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from taskpack import resources
from taskpack.errors import Conflict, IntegrityError, NotFound, TaskpackError, UsageError
from taskpack.packs.shelf import open_shelf
from taskpack.publishing.publish import publish
from taskpack.registry.adding import add
from taskpack.registry.index import Index, begin_folder, open_folder
from taskpack.registry.installed import Installed
from taskpack.registry.lock import LOCK, read_lock
from taskpack.registry.log import append, read_log

from .conftest import PACKS, edit


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(place: Path, op: Path, task: Path) -> Index:
    """Holds `demo/sum` 1.0.0 and `demo/cpp-sum` 0.1.0, which needs it."""
    index = begin_folder(place)
    publish(op, index)
    publish(task, index)
    return index


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project" / LOCK


def _publish(folder: Path, index: Index, old: str, new: str, *changes: tuple[str, str]) -> None:
    edit(folder, (f'"{old}"', f'"{new}"'), *changes)
    publish(folder, index)


def _pinned(lock: Path) -> dict[str, str]:
    return {name: locked.pin.release.version for name, locked in read_lock(lock).items()}


def test_a_pack_comes_with_what_it_needs(index: Index, lock: Path, task: Path) -> None:
    assert list(add("demo/cpp-sum", "*", index, lock)) == ["demo/cpp-sum", "demo/sum"]
    locked = read_lock(lock)
    assert {name: one.asked for name, one in locked.items()} == {"demo/cpp-sum": "*", "demo/sum": ""}
    assert locked["demo/cpp-sum"].pin.release.dependencies == {"demo/sum": "^1.0"}
    assert {one.pin.registry for one in locked.values()} == {index.id}
    folder = Installed(lock.parent).find("demo/cpp-sum")
    assert folder
    assert (folder / "kernel.cpp").read_bytes() == (task / "kernel.cpp").read_bytes()
    assert resources.is_installed(folder)
    assert not resources.is_installed(task)


def test_a_lock_names_no_place_and_is_the_same_everywhere(index: Index, place: Path, lock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add("demo/cpp-sum", "^0.1", index, lock)
    text = lock.read_text()
    assert str(tmp_path) not in text
    assert "://" not in text
    place.rename(tmp_path / "copy")
    monkeypatch.setenv("TASKPACK_CACHE", str(tmp_path / "another"))
    (tmp_path / "elsewhere").mkdir()
    add("demo/cpp-sum", "^0.1", open_folder(tmp_path / "copy"), tmp_path / "elsewhere" / LOCK)
    assert (tmp_path / "elsewhere" / LOCK).read_text() == text
    assert re.search(r'^\[\[pack\]\]\nname = "demo/cpp-sum"\nversion = "0.1.0"\nkind = "task"\nasked = "\^0.1"\ncontent = "sha256:', text, re.MULTILINE)


def test_requirements_choose(index: Index, op: Path, lock: Path) -> None:
    _publish(op, index, "1.0.0", "1.1.0", ("Sum along", "A sum along"))
    _publish(op, index, "1.1.0", "2.0.0-rc.1", ("rows = 96", "rows = 97"))
    for requirement, version in (("*", "1.1.0"), ("1.0.0", "1.0.0"), ("^1.0", "1.1.0"), ("2.0.0-rc.1", "2.0.0-rc.1")):
        add("demo/sum", requirement, index, lock)
        assert _pinned(lock) == {"demo/sum": version}
    with pytest.raises(Conflict, match=r"you ask for `\^3.0`"):
        add("demo/sum", "^3.0", index, lock)


def test_what_others_need_stays_as_it_is(index: Index, op: Path, lock: Path) -> None:
    add("demo/cpp-sum", "*", index, lock)
    _publish(op, index, "1.0.0", "2.0.0", ("rows = 96", "rows = 97"))
    with pytest.raises(Conflict, match=r"you ask for `\^2.0` and demo/cpp-sum 0.1.0 asks for `\^1.0`|no version of `demo/sum`"):
        add("demo/sum", "^2.0", index, lock)
    assert _pinned(lock) == {"demo/cpp-sum": "0.1.0", "demo/sum": "1.0.0"}


def test_a_pack_can_be_moved_with_what_only_it_needs(index: Index, op: Path, task: Path, lock: Path) -> None:
    add("demo/cpp-sum", "*", index, lock)
    _publish(op, index, "1.0.0", "2.0.0", ("rows = 96", "rows = 97"))
    _publish(task, index, "0.1.0", "0.2.0", ('"^1.0"', '"^2.0"'))
    add("demo/cpp-sum", "*", index, lock)
    assert _pinned(lock) == {"demo/cpp-sum": "0.2.0", "demo/sum": "2.0.0"}


def test_what_ships_is_pinned_too(tmp_path: Path, lock: Path) -> None:
    task = tmp_path / "own"
    shutil.copytree(PACKS / "arena/cpp2cpp-reduce-sum", task, ignore=shutil.ignore_patterns(".taskpack"))
    edit(task, ("arena/cpp2cpp-reduce-sum", "demo/own"))
    index = begin_folder(tmp_path / "index")
    publish(task, index)
    assert add("demo/own", "*", index, lock)["ops/reduce-sum"].registry == "shipped"
    folder = Installed(lock.parent).find("ops/reduce-sum")
    assert folder
    assert (folder / "reference.py").read_bytes() == (PACKS / "ops/reduce-sum/reference.py").read_bytes()


def test_no_index_takes_the_place_of_what_ships(tmp_path: Path, lock: Path) -> None:
    index = begin_folder(tmp_path / "index")
    other = tmp_path / "softmax"
    shutil.copytree(PACKS / "ops/softmax", other, ignore=shutil.ignore_patterns(".taskpack"))
    publish(other, index)
    assert add("ops/softmax", "*", index, lock)["ops/softmax"].registry == "shipped", "the same content is no other pack"
    version = re.search(r'(?m)^version = "(.+)"', (other / "pack.toml").read_text())[1]
    edit(other, (f'version = "{version}"', f'version = "{version.rpartition(".")[0]}.99"'), ("summary = ", "authors = []\nsummary = "))
    publish(other, index)
    with pytest.raises(Conflict, match="ships with taskpack"):
        add("ops/softmax", "*", index, lock)


def test_a_name_that_is_not_there(index: Index, lock: Path) -> None:
    with pytest.raises(NotFound, match="no pack `demo/som`") as caught:
        add("demo/som", "*", index, lock)
    assert caught.value.hint == "did you mean `demo/sum`?"
    assert not lock.exists()


def test_the_shelf_finds_what_is_pinned(index: Index, lock: Path, op: Path) -> None:
    below = lock.parent / "deep" / "er"
    below.mkdir(parents=True)
    add("demo/sum", "*", index, lock)
    shelf = open_shelf(pinned=Installed(below))
    assert shelf.fetch("demo/sum").version == "1.0.0"
    assert "demo/sum" in shelf.names()
    assert open_shelf(explicit=[op], pinned=Installed(below)).find("demo/sum") == op, "a path comes first"
    assert open_shelf(roots=[op.parent], pinned=Installed(below)).find("demo/sum") != op, "a neighbour does not"
    assert open_shelf(pinned=Installed(lock.parent.parent)).find("demo/sum") is None


def _files_of(index_folder: Path) -> list[Path]:
    return sorted(path for path in index_folder.rglob("*") if path.is_file() and path.name != "probe.json")


def test_a_flipped_bit_anywhere_is_noticed(index: Index, place: Path, lock: Path) -> None:
    """In a blob, an event, a hint or the index's own file: an error, or, for what is only a hint, no effect."""
    add("demo/cpp-sum", "*", index, lock)
    text = lock.read_text()
    lock.unlink()
    shutil.rmtree(resources.cache())
    for path in _files_of(place):
        good = path.read_bytes()
        for at in range(3, len(good), max(1, len(good) // 12)):
            path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
            try:
                add("demo/cpp-sum", "*", open_folder(place), lock)
            except TaskpackError:
                assert not lock.exists()
            else:
                assert path.name in ("index.json", "registry.json") or abs(at - good.index(b'"at"')) < 30, "a time is for people, and not used"
                assert path.name == "registry.json" or lock.read_text() == text
            lock.unlink(missing_ok=True)
            shutil.rmtree(resources.cache(), ignore_errors=True)
        path.write_bytes(good)


def test_a_hint_that_lies_leads_nowhere(index: Index, place: Path, op: Path, lock: Path) -> None:
    hint = place / "pkg/demo/sum/index.json"
    good = hint.read_bytes()
    _publish(op, index, "1.0.0", "1.0.1", ("Sum along", "A sum along"))
    other = read_log(index.store, "demo/sum").releases["1.0.1"][1]
    first = read_log(index.store, "demo/sum").releases["1.0.0"][1]
    hint.write_bytes(good.replace(first.content.encode(), other.content.encode()).replace(first.blob.encode(), other.blob.encode()))
    add("demo/sum", "1.0.0", index, lock)
    assert read_lock(lock)["demo/sum"].pin.release.content == first.content


def test_an_archive_of_another_pack_is_refused(index: Index, place: Path, lock: Path) -> None:
    """A publisher that says one thing in the event and another in the archive."""
    release = read_log(index.store, "demo/sum").releases["1.0.0"][1]
    for lie in (replace(release, version="1.5.0"), replace(release, version="1.6.0", dependencies={"ops/softmax": "^1.0"})):
        append(index.store, "demo/sum", lambda _, lie=lie: lie)
        with pytest.raises(IntegrityError, match="is another pack"):
            add("demo/sum", lie.version, index, lock)
    append(index.store, "demo/other", lambda _: release)
    with pytest.raises(IntegrityError, match="is another pack"):
        add("demo/other", "*", index, lock)


def test_a_lock_cannot_give_a_pack_another_name(index: Index, lock: Path) -> None:
    """A lock comes with a project, and that from anywhere."""
    add("demo/sum", "*", index, lock)
    lock.write_text(lock.read_text().replace('name = "demo/sum"', 'name = "demo/other"'))
    with pytest.raises(IntegrityError, match="is another pack"):
        Installed(lock.parent).find("demo/other")


def test_a_lock_cannot_replace_what_ships(tmp_path: Path, lock: Path) -> None:
    index = begin_folder(tmp_path / "index")
    other = tmp_path / "softmax"
    shutil.copytree(PACKS / "ops/softmax", other, ignore=shutil.ignore_patterns(".taskpack"))
    publish(other, index)
    add("ops/softmax", "*", index, lock)
    lock.write_text(lock.read_text().replace('"shipped"', f'"{index.id}"\nblob = "sha256:{"0" * 64}"\nsize = 7'))
    with pytest.raises(Conflict, match="ships with taskpack"):
        Installed(lock.parent).find("ops/softmax")


def test_an_index_that_was_rewritten_is_noticed_by_the_lock(index: Index, place: Path, op: Path, lock: Path) -> None:
    add("demo/sum", "*", index, lock)
    shutil.rmtree(place / "pkg" / "demo" / "sum")
    edit(op, ("Sum along", "A sum along"))
    publish(op, index)
    with pytest.raises(IntegrityError, match=r"demo/sum 1.0.0 is no longer what taskpack.lock pins"):
        add("demo/sum", "*", index, lock)


def test_an_altered_cache_is_not_used(index: Index, lock: Path) -> None:
    add("demo/cpp-sum", "*", index, lock)
    folder = Installed(lock.parent).find("demo/cpp-sum")
    assert folder
    (folder / "kernel.cpp").write_text("int x;\n")
    with pytest.raises(IntegrityError, match=r"`kernel.cpp` is not what was published"):
        Installed(lock.parent).find("demo/cpp-sum")
    with pytest.raises(IntegrityError):
        add("demo/cpp-sum", "*", index, lock)
    shutil.rmtree(folder)
    with pytest.raises(NotFound, match="not in the cache"):
        Installed(lock.parent).find("demo/cpp-sum")
    add("demo/cpp-sum", "*", index, lock)
    assert Installed(lock.parent).find("demo/cpp-sum") == folder


@pytest.mark.parametrize("harm", ["not toml [", "format = 2", '[[pack]]\nname = "x"', "pack = 3\nformat = 1", "format = 1\npack = [1]"])
def test_a_lock_that_cannot_be_read(harm: str, lock: Path) -> None:
    lock.write_text(harm)
    with pytest.raises(UsageError, match="cannot be read"):
        read_lock(lock)


@pytest.mark.parametrize(("key", "value"), [("content", "sha256:../../x"), ("name", "../x"), ("registry", "https"), ("surprise", "x"), ("version", "1")])
def test_a_lock_with_odd_values(key: str, value: str, index: Index, lock: Path) -> None:
    add("demo/sum", "*", index, lock)
    text = re.sub(rf'^{key} = ".*"$', f'{key} = "{value}"', lock.read_text(), flags=re.MULTILINE)
    lock.write_text(text if text != lock.read_text() else text + f'{key} = "{value}"\n')
    with pytest.raises(UsageError, match="cannot be read"):
        read_lock(lock)
