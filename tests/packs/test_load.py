"""Loading: what is refused at once, places in odd spellings, and that one mistake is not told twice."""

import time
from pathlib import Path

import pytest
import tomli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taskpack.errors import NotFound, PackInvalid
from taskpack.packs.load import load_pack
from taskpack.packs.names import read_name
from taskpack.packs.op import OpPack

from .samples import OP, TASK, write_pack


def _codes(folder: Path) -> list[tuple[str, int]]:
    with pytest.raises(PackInvalid) as caught:
        load_pack(folder)
    return [(diagnostic.code, diagnostic.line) for diagnostic in caught.value.diagnostics]


def _line(text: str, folder: Path) -> int:
    lines = (folder / "pack.toml").read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_a_folder_or_its_file(tmp_path):
    folder = write_pack(tmp_path, OP)
    by_folder, by_file = load_pack(folder), load_pack(folder / "pack.toml")
    assert by_folder == by_file
    assert (by_folder.name, by_folder.version, by_folder.kind) == ("local/scale", "0.1.0", "op")
    assert isinstance(by_folder.document, OpPack)


def test_nothing_there(tmp_path):
    with pytest.raises(NotFound):
        load_pack(tmp_path / "nowhere")
    with pytest.raises(NotFound):
        load_pack(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"\xef\xbb\xbfformat = 1",
        b"format = 1\npack = 3",
        b"format = true\n[pack]\nkind = 3",
        b"a = " + b"[" * 10_000,
        b"a = " + b"9" * 10_000,
        b"format = 1" + b"\n" * (1 << 20),
        b"a = " + b"[" * 80 + b"]" * 80,
        b"a." * 60 + b"b = 1",
        b"format = 1\n[pack]\nkind = 'op'\n[[op]]",
        b"format = 1\n[pack]\nkind = 'op'\n[op]\ninput = [1, 'x', {}]\ncase = {}\nunseen = [[]]",
        b"format = 1\n[pack]\nkind = 'task'\n[pack.dependencies]\nx = 1\n[task]\nbaseline = 1\nop = 2",
        b"format = 1\n[pack]\nkind = 'target'\n[target]\nlimits = [1]\nsources = 2",
        "format = 1\n[pack]\nkind = 'op'\n[op.dims]\n'\u00e9' = 'x'\n'' = 'y'".encode(),
    ],
)
def test_rubbish_is_diagnosed_inside_the_file(tmp_path, content):
    (tmp_path / "pack.toml").write_bytes(content)
    with pytest.raises(PackInvalid) as caught:
        load_pack(tmp_path)
    lines = content.decode("utf-8", "replace").split("\n")
    assert caught.value.diagnostics
    for diagnostic in caught.value.diagnostics:
        assert 0 <= diagnostic.line <= len(lines)


def test_a_misspelled_declaration_is_told_once(tmp_path):
    # The dimension's own type is wrong; its uses in shapes, costs and cases are not.
    folder = write_pack(tmp_path, OP, ('cols = "row length"', "cols = 3"))
    assert _codes(folder) == [("P012", _line("cols = 3", folder))]


def test_a_broken_input_does_not_break_its_uses(tmp_path):
    folder = write_pack(tmp_path, TASK, ("init = { normal = { std = 3.0 } }\n", ""), ("constraints = [", 'invariants = ["max(x) < 9"]\nconstraints = ['))
    assert _codes(folder) == [("P011", _line("[[op.input]]", folder))]


def test_places_after_a_removed_row_stay_right(tmp_path):
    folder = write_pack(
        tmp_path,
        OP,
        ('scale = "small"\nrows = 64', 'scale = "smal"\nrows = 64'),
        ("[[op.unseen]]", '[[op.case]]\nid = "wrong"\nrows = -7\ncols = 1\nT = "float32"\n\n[[op.unseen]]'),
    )
    assert _codes(folder) == [("P013", _line("smal", folder)), ("P063", _line("rows = -7", folder))]


def test_a_missing_reference_hides_nothing(tmp_path):
    folder = write_pack(tmp_path, OP, ('reference = "reference.py:scale"\n', ""), ('"rows * cols"', '"row * cols"'))
    assert _codes(folder) == [("P011", _line("[op]", folder)), ("P031", _line("row * cols", folder))]


def test_all_of_a_broken_header_and_a_broken_body(tmp_path):
    folder = write_pack(tmp_path, OP, ('name = "local/scale"', 'name = "Scale"'), ("rows = 64", "rows = 64.0"), ("[1, 7, 33]", "[]"))
    assert [code for code, _ in _codes(folder)] == ["P015", "P063", "P014"]


def test_a_link_out_of_the_pack(tmp_path):
    (tmp_path / "secret.py").write_text("def scale(x):\n    return x\n")
    folder = write_pack(tmp_path / "pack", OP)
    (folder / "reference.py").unlink()
    (folder / "reference.py").symlink_to(tmp_path / "secret.py")
    assert _codes(folder) == [("P041", 11)]


def test_a_pack_in_a_linked_folder_is_no_link_out(tmp_path):
    folder = write_pack(tmp_path / "real", OP)
    (tmp_path / "alias").symlink_to(folder)
    assert load_pack(tmp_path / "alias").name == "local/scale"


def test_a_reference_is_never_run(tmp_path):
    folder = write_pack(tmp_path, OP)
    (folder / "reference.py").write_text("raise SystemExit\ndef scale(x, *rest, rows=1, **more):\n    return x\n")
    load_pack(folder)


@pytest.mark.parametrize(
    "line", ["from elsewhere import scale", "scale = max", "if True:\n    def scale(x): ...", "try:\n    import scale\nexcept ImportError: ..."]
)
def test_other_ways_to_define_a_reference(tmp_path, line):
    folder = write_pack(tmp_path, OP)
    (folder / "reference.py").write_text(line + "\n")
    load_pack(folder)


def test_warnings_do_not_refuse(tmp_path):
    loaded = load_pack(write_pack(tmp_path, OP, ('scale = "small"\nrows = {', 'scale = "small"\ncount = 7\nrows = {')))
    assert [(warning.code, warning.is_warning) for warning in loaded.warnings] == [("P067", True)]


@pytest.mark.slow
def test_a_hostile_pack_is_checked_in_a_moment(tmp_path):
    long = " + ".join(["rows * cols"] * 30)
    constraints = ", ".join(f'"{long} > {index}"' for index in range(63))
    cases = "".join(f'[[op.case]]\nid = "c{index}"\nrows = 1\ncols = 1\nT = "float32"\n' for index in range(255))
    tables = "".join('[[op.unseen]]\nrows = { range = [1, 2] }\ncols = 1\nT = "float32"\n' for _ in range(60))
    folder = write_pack(tmp_path, OP, ('"rows > 0"', f'{constraints}, "rows > 9"'), ("[[op.unseen]]", f"{cases}{tables}[[op.unseen]]"))
    start = time.process_time()
    assert len(_codes(folder)) > 200
    assert time.process_time() - start < 20


def test_read_name(tmp_path):
    assert read_name(write_pack(tmp_path / "a", OP, ("[op.dims]", "[op.dim]"))) == "local/scale"
    (tmp_path / "pack.toml").write_text("pack = [")
    assert read_name(tmp_path) is None
    assert read_name(tmp_path / "nowhere") is None


def test_the_form_is_frozen(tmp_path):
    document = load_pack(write_pack(tmp_path, OP)).document
    with pytest.raises(ValueError, match="frozen"):
        document.pack.name = "other/name"


EVERYTHING = [(Path(__file__).parents[1] / "formats" / "1" / f"{kind}-with-everything" / "pack.toml").read_text() for kind in ("op", "task")]
_ODD = st.sampled_from(["0", "-1", "true", '""', '"rows"', "1.5", "[]", "{}", '["x", 1]', "{ a = 1 }", "1979-05-27", '"9" * 9', '"(" '])


@st.composite
def _mangled(draw):
    """A pack with some lines gone, doubled, or with another value."""
    lines = draw(st.sampled_from(EVERYTHING)).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        index = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                del lines[index]
            case 1:
                lines.insert(index, lines[draw(st.integers(0, len(lines) - 1))])
            case _ if "=" in lines[index]:
                lines[index] = f"{lines[index].partition('=')[0]}= {draw(_ODD)}"
    return "\n".join(lines)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_mangled())
def test_whatever_is_wrong_is_a_diagnostic_at_a_place(tmp_path, text):
    (tmp_path / "pack.toml").write_text(text, encoding="utf-8")
    try:
        load_pack(tmp_path)
    except PackInvalid as invalid:
        lines = text.split("\n")
        for diagnostic in invalid.diagnostics:
            assert diagnostic.source_line == lines[diagnostic.line - 1] or diagnostic.file != f"{tmp_path.as_posix()}/pack.toml"
            assert 1 <= diagnostic.column <= len(diagnostic.source_line) + 1
    else:
        tomli.loads(text)
