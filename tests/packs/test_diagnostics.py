"""Diagnostics as text and as data."""

import json

from taskpack.errors import Diagnostic, PackInvalid
from taskpack.packs.diagnostics import render_diagnostic, render_diagnostics, to_dict

ONE = Diagnostic("pack.toml", 10, 8, "P012", "it is wrong", "mend it", "atol = -1.0", 4)


def test_text():
    assert render_diagnostic(ONE) == ("pack.toml:10:8: error[P012]: it is wrong\n  10 | atol = -1.0\n     |        ^^^^\nhint: mend it\n")


def test_carets_stand_below_wide_characters_and_tabs():
    wide = Diagnostic("p", 1, 7, "P012", "m", source_line='\tn="宽" x', length=1)
    caret = render_diagnostic(wide).splitlines()[2]
    assert caret == "     | \t" + " " * len('n="') + "  " + '"'.replace('"', " ") + " ^".lstrip()


def test_without_a_place_or_a_line():
    assert render_diagnostic(Diagnostic("p", 0, 0, "P001", "too large")) == "p: error[P001]: too large\n"
    assert render_diagnostic(Diagnostic("p", 1, 1, "P002", "m", "h")) == "p:1:1: error[P002]: m\nhint: h\n"


def test_warnings_and_colour():
    warning = Diagnostic("p", 1, 1, "P067", "few", is_warning=True)
    assert render_diagnostic(warning) == "p:1:1: warning[P067]: few\n"
    assert "\x1b[" in render_diagnostic(warning, colour=True)


def test_several_in_order():
    later = Diagnostic("pack.toml", 12, 1, "P010", "unknown")
    assert render_diagnostics([later, ONE]).split("\n\n")[1].startswith("pack.toml:12:1")
    assert PackInvalid((later, ONE)).diagnostics == (ONE, later)


def test_data():
    data = to_dict(ONE)
    assert json.loads(json.dumps(data)) == data
    assert data["severity"] == "error"
    assert (data["file"], data["line"], data["column"], data["code"]) == ("pack.toml", 10, 8, "P012")


def test_nothing_steers_the_terminal():
    nasty = Diagnostic("p\x1b[2J", 1, 1, "P031", "unknown name `\x1b]0;x\x07`", "h\u202e", 'a = "\x1b"', 3)
    assert "\x1b" not in render_diagnostic(nasty)
    assert "\u202e" not in render_diagnostic(nasty)
