"""Every folder of tests/bad is a pack with a mistake, and what taskpack says of it."""

from pathlib import Path

import pytest

from taskpack.errors import PackInvalid
from taskpack.packs.check import check_pack
from taskpack.packs.codes import CODES
from taskpack.packs.diagnostics import render_diagnostics
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import Shelf

BAD = Path(__file__).parents[1] / "bad"
FOLDERS = sorted(folder.name for folder in BAD.iterdir() if (folder / "pack.toml").exists())


def _diagnostics(folder: Path):
    try:
        return check_pack(load_pack(folder), Shelf([folder]))
    except PackInvalid as invalid:
        return invalid.diagnostics


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_said(name, golden, monkeypatch):
    monkeypatch.chdir(BAD / name)
    diagnostics = _diagnostics(Path())
    assert render_diagnostics(diagnostics) == golden(BAD / name / "expected.txt")
    code = name.partition("-")[0]
    if code in CODES:
        assert {diagnostic.code for diagnostic in diagnostics} == {code}


def test_every_code_has_a_folder_and_every_folder_a_code():
    assert {name.partition("-")[0] for name in FOLDERS} == {*CODES, "many"}


def test_ten_mistakes_stand_in_the_order_of_lines():
    diagnostics = _diagnostics(BAD / "many-ten-mistakes")
    assert len(diagnostics) == 10
    assert [d.line for d in diagnostics] == sorted(d.line for d in diagnostics)
    text = (BAD / "many-ten-mistakes" / "pack.toml").read_text().splitlines()
    for diagnostic in diagnostics:
        assert text[diagnostic.line - 1] == diagnostic.source_line
        assert 1 <= diagnostic.column <= len(diagnostic.source_line)
