"""The interface `module`, on a library made for these tests: what is refused before a harness exists, and by which gate afterwards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from toy import LIBRARY, MINE, PACK, install

from taskpack.compiler.build import build_pack
from taskpack.errors import IntegrityError, TargetAbsent, UsageError
from taskpack.packs.shelf import open_shelf
from taskpack.runtime import library, signature


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip would have filled it."""
    site = tmp_path_factory.mktemp("site")
    install(site)
    return site


@pytest.fixture(autouse=True)
def _installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(site)


def _write(folder: Path, *changes: tuple[str, str]) -> Path:
    text = PACK.replace("FINGERPRINT", library.fingerprint("toy_layers.affine:Affine"))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    folder.mkdir(exist_ok=True)
    (folder / "pack.toml").write_text(text)
    return folder


def _build(folder: Path) -> Path:
    return build_pack(folder, "targets/cpu", open_shelf(()), out=folder / "x.pyz").path


@pytest.fixture(scope="module")
def harness(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        return _build(_write(tmp_path_factory.mktemp("affine")))


def _run(harness: Path, code: str, site: Path, folder: Path) -> tuple[int, dict[str, tuple[str, str]], str]:
    """Exit code, gate → (verdict, reason), and what was said on stderr."""
    (folder / "module.py").write_text(code)
    words = ["--candidate", str(folder), "--quick", "--result", str(folder / "result.json")]
    done = subprocess.run([sys.executable, str(harness), *words], env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True)
    path = folder / "result.json"
    gates = json.loads(path.read_text())["gates"] if path.exists() else []
    return done.returncode, {gate["gate"]: (gate["verdict"], gate["reason"]) for gate in gates}, done.stderr


def test_a_plain_reimplementation_passes_and_the_evidence_names_the_library(harness: Path, site: Path, tmp_path: Path) -> None:
    _, gates, errors = _run(harness, MINE, site, tmp_path)
    assert list(gates) == ["compile", "interface", "state-dict", "correct", "general", "fast"], errors
    assert [gates[name][0] for name in list(gates)[:5]] == ["pass"] * 5, gates
    assert json.loads((tmp_path / "result.json").read_text())["toolchain"]["toy-layers"] == "1.4.2"


@pytest.mark.parametrize(
    ("change", "gate", "words"),
    [
        ((", *, gain=1.0", ""), "interface", "`__init__` has no parameter `gain`"),
        pytest.param(
            ("*, gain=1.0", "gain=1.0"),
            "interface",
            "takes `gain` as a positional or keyword parameter, not as a keyword only parameter",
            marks=pytest.mark.slow,
        ),
        (("forward(self, x):", "forward(self, rows):\n        x = rows"), "interface", "`forward` has no parameter `x`"),
        (("self.shift, x, self.scale", "self.shift, x, torch.ones_like(self.scale)"), "state-dict", "`scale` is never used"),
        (("self.shift = nn.Parameter(torch.zeros(config.width))", "self.shift = torch.zeros(config.width)"), "state-dict", "has no `shift`"),
        pytest.param(
            ("torch.ones(config.width)", "torch.ones(config.width, dtype=torch.float64)"),
            "state-dict",
            "`scale` has dtype float64, the library's has float32",
            marks=pytest.mark.slow,
        ),
        (("        return", "        x = x.bfloat16().float()\n        return"), "correct", "y differs at"),
        (("        return", "        self.scale.mul_(1)\n        return"), "state-dict", "crashed with SIGSEGV"),
    ],
)
def test_the_gate_that_stops_it_says_why(change: tuple[str, str], gate: str, words: str, harness: Path, site: Path, tmp_path: Path) -> None:
    assert change[0] in MINE
    code, gates, errors = _run(harness, MINE.replace(*change, 1), site, tmp_path)
    failed = [name for name, (verdict, _) in gates.items() if verdict == "fail"]
    assert (code, failed) == (1, [gate]), (gates, errors)
    assert words in gates[gate][1]


def test_a_harness_without_its_library_is_refused(harness: Path, tmp_path: Path) -> None:
    code, gates, errors = _run(harness, MINE, tmp_path / "nowhere", tmp_path)
    assert (code, gates) == (3, {})
    assert "needs toy-layers (^1.2), which is not installed: pip install 'toy-layers>=1.2.0,<2.0.0'" in errors


def test_a_harness_whose_library_has_drifted_is_refused(harness: Path, tmp_path: Path, site: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["cp", "-r", site, other], check=True)
    file = other / "toy_layers" / "affine.py"
    file.write_text(file.read_text().replace("* self.gain + self.shift", "* self.gain - self.shift"))
    code, _, errors = _run(harness, MINE, other, tmp_path)
    assert code == 5
    assert "drift: `toy_layers.affine:Affine` of toy-layers 1.4.2 has the fingerprint sha256:" in errors


def test_building_holds_the_pack_to_the_library(tmp_path: Path) -> None:
    for change, error, words in (
        (('"toy-layers"', '"toy-players"'), TargetAbsent, "needs toy-players .* not installed"),
        (('"^1.2"', '">=1.2, <1.4"'), TargetAbsent, "needs toy-layers >=1.2, <1.4, and 1.4.2 is installed"),
        (("(config, *, gain=1.0)", "(config, gain=1.0)"), UsageError, r"the library's class has `\(config, \*, gain=1.0\)`"),
        (("toy_layers.affine:Affine", "toy_layers.affine:Afine"), IntegrityError, "has no class `Afine` any more"),
        (("toy_layers.affine:Affine", "toy_layers.lines:Affine"), IntegrityError, "has no module toy_layers.lines any more"),
    ):
        folder = _write(tmp_path / "pack", change)
        with pytest.raises(error, match=words):
            _build(folder)


def test_a_fingerprint_is_of_the_syntax(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(text: str, name: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
        return library.fingerprint(f"{name}:Affine")

    first = of(LIBRARY, "layers_a")
    assert of(LIBRARY.replace('"""Scales and shifts rows."""', "# words").replace("(self, x)", "( self,  x )"), "layers_b") == first
    assert of(LIBRARY.replace("self.gain = gain", "self.gain = 2 * gain"), "layers_c") != first
    assert of(LIBRARY.replace('kind="plain"', 'kind="other"'), "layers_d") == first, "another class of the same file"


@pytest.mark.parametrize(
    ("wanted", "found", "words"),
    [
        ("(a, b=1)", "(a, b=1)", ""),
        ("(a, b=1)", "(a, b=1, c=2)", ""),
        ("(a, b=1)", "(a, b=2)", "has the default 2 for `b`, not the default 1"),
        ("(a, b=1)", "(a, b)", "has no default for `b`, not the default 1"),
        ("(a, b=1)", "(a, **rest)", "has no parameter `b`"),
        ("(a, b)", "(b, a)", "takes `b`, `a` in this order, not `a`, `b`"),
        ("(a)", "(a, c)", "wants `c`, which it is not given"),
        ("(a, **rest)", "(a)", "takes no `**rest`"),
        ("(a, *, b)", "(a, b)", "takes `b` as a positional or keyword parameter, not as a keyword only parameter"),
    ],
)
def test_differences_of_signatures(wanted: str, found: str, words: str) -> None:
    assert signature.difference(signature.parse_signature(wanted), signature.parse_signature(found)) == words


@pytest.mark.parametrize("text", ["(a, *, b=1, **rest)", "(a, /, b, *rest)", "()", "(a, b='x')"])
def test_signatures_are_shown_as_they_are_read(text: str) -> None:
    assert signature.show(signature.parse_signature(text)).replace(", /", "") == text.replace(", /", "")


@pytest.mark.parametrize("text", ["a, b", "(a", "(a): return 1\n#", "(a)\n"])
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(ValueError, match="no signature"):
        signature.parse_signature(text)


_PATCHED = (
    MINE
    + """
import sys
worker = next(module for name, module in sys.modules.items() if name.endswith("runtime.worker"))
worker._Implementation.do_{what} = lambda *_: {answer}
"""
)


@pytest.mark.parametrize(
    ("code", "gate", "words"),
    [
        (MINE.replace("        return", "        raise ValueError('\\ud800 odd')\n        return"), "state-dict", "raised ValueError: ? odd"),
        (_PATCHED.format(what="signatures", answer="5"), "interface", "answered with something that is no signature"),
        (_PATCHED.format(what="signatures", answer="{'constructor': [[1, 2, 3]]}"), "interface", "answered with something that is no signature"),
        (_PATCHED.format(what="state", answer="{'scale': 7}"), "state-dict", "answered with something that is no state of a module"),
    ],
)
def test_what_a_candidate_says_of_itself_may_be_nonsense(code: str, gate: str, words: str, harness: Path, site: Path, tmp_path: Path) -> None:
    """Its process can be made to answer anything; that is its failure, never the judge's."""
    ended, gates, errors = _run(harness, code, site, tmp_path)
    assert ended == 1, errors
    assert gates[gate][0] == "fail", gates
    assert words in gates[gate][1]
