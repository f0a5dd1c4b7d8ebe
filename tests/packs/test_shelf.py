"""Packs by name: roots, shadowing, versions, suggestions."""

import subprocess
import sys

import pytest

from taskpack.errors import NotFound, PackInvalid, UsageError
from taskpack.packs.shelf import Shelf, VersionRefused, find_packs, locate_pack, open_shelf

from .samples import OP, write_pack


def _op(folder, name, version="1.2.0"):
    return write_pack(folder, OP, ("local/scale", name), ("0.1.0", version))


def test_a_name_is_a_path_below_a_root(tmp_path):
    folder = _op(tmp_path / "ops" / "scale", "ops/scale")
    shelf = Shelf([tmp_path])
    assert shelf.fetch("ops/scale").folder == folder
    assert shelf.fetch("ops/scale", "^1.0") is shelf.fetch("ops/scale")


def test_a_local_pack_is_found_by_what_it_calls_itself(tmp_path):
    folder = _op(tmp_path / "scale", "local/scale")
    assert Shelf([tmp_path]).find("local/scale") == folder
    assert Shelf([tmp_path]).find("other/scale") is None


def test_the_first_root_wins_and_an_explicit_path_beats_all(tmp_path):
    first, second = _op(tmp_path / "1" / "ops" / "scale", "ops/scale"), _op(tmp_path / "2" / "ops" / "scale", "ops/scale", "2.0.0")
    roots = [tmp_path / "1", tmp_path / "2"]
    assert Shelf(roots).find("ops/scale") == first
    assert Shelf(roots, explicit=[second]).fetch("ops/scale").version == "2.0.0"
    assert Shelf(roots, explicit=[second / "pack.toml"]).find("ops/scale") == second


def test_a_shipped_name_is_not_shadowed(tmp_path):
    mine = _op(tmp_path / "ops" / "softmax", "ops/softmax")
    assert open_shelf([tmp_path]).find("ops/softmax") != mine
    assert open_shelf([tmp_path], explicit=[mine]).find("ops/softmax") == mine


def test_versions(tmp_path):
    _op(tmp_path / "ops" / "scale", "ops/scale")
    with pytest.raises(VersionRefused, match=r"1\.2\.0"):
        Shelf([tmp_path]).fetch("ops/scale", "^2.0")


def test_suggestions(tmp_path):
    _op(tmp_path / "ops" / "scale", "ops/scale")
    with pytest.raises(NotFound) as caught:
        Shelf([tmp_path]).fetch("ops/scal")
    assert caught.value.hint == "did you mean `ops/scale`?"


@pytest.mark.parametrize("name", ["../ops/scale", "ops/../ops/scale", "/etc/passwd", "ops", "", "ops/scale/", "Ops/scale", "ops/scale\n"])
def test_no_name_leads_out(tmp_path, name):
    _op(tmp_path / "ops" / "scale", "ops/scale")
    assert Shelf([tmp_path / "ops", tmp_path]).find(name) is None


def test_finding_one_reads_no_other(tmp_path):
    _op(tmp_path / "ops" / "scale", "ops/scale")
    (tmp_path / "ops" / "broken").mkdir()
    (tmp_path / "ops" / "broken" / "pack.toml").write_text("not toml")
    shelf = Shelf([tmp_path])
    shelf.fetch("ops/scale")
    with pytest.raises(PackInvalid):
        shelf.fetch("ops/broken")


def test_names(tmp_path):
    _op(tmp_path / "ops" / "scale", "ops/scale")
    _op(tmp_path / "mine", "local/mine")
    assert Shelf([tmp_path]).names() == ["local/mine", "ops/scale"]


def test_find_packs_does_not_look_into_packs_and_hidden_folders(tmp_path):
    outer = _op(tmp_path / "a" / "outer", "local/outer")
    _op(outer / "inner", "local/inner")
    _op(tmp_path / ".hidden" / "x", "local/x")
    other = _op(tmp_path / "b", "local/b")
    assert list(find_packs(tmp_path)) == [outer, other]
    assert list(find_packs(outer)) == [outer]


def test_locate(tmp_path, monkeypatch):
    folder = _op(tmp_path / "ops" / "scale", "ops/scale")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    shelf = Shelf([tmp_path])
    assert locate_pack("ops/scale", Shelf()).resolve() == folder
    assert locate_pack(str(folder / "pack.toml"), Shelf()) == folder
    monkeypatch.chdir(tmp_path / "empty")
    assert locate_pack("ops/scale", shelf) == folder
    with pytest.raises(UsageError):
        locate_pack(str(tmp_path / "empty"), shelf)
    with pytest.raises(NotFound):
        locate_pack("ops/scales", shelf)


def test_looking_up_a_name_starts_no_pydantic():
    code = "import sys; from taskpack.packs.shelf import open_shelf; open_shelf().names(); print('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
