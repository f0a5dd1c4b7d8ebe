"""The walk is what happens: its commands are run, and what it shows of them is what they print.

In a block ```console each `$ command` is followed by what it prints on stdout. `…` in a line stands for anything, `…` as a line for any lines, and several
spaces, as between columns of a table, for any number of them. All of a section runs in one folder, which holds `packs`; blocks below `<!-- slow -->` run in
`make test-slow` only.
"""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
CUT = "…"
NEEDED = {"1": ("torch",), "2": ("torch", "triton"), "3": ("torch", "transformers"), "W": ("torch", "triton", "transformers")}
_BLOCK = re.compile(r"(<!-- slow -->\n)?```console\n(.*?)```", re.DOTALL)


def _capture() -> ModuleType:
    """`docs/capture.py`, which runs the sessions of other pages."""
    spec = importlib.util.spec_from_file_location("capture", ROOT / "docs" / "capture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _sections() -> dict[str, str]:
    _, *parts = re.split(r"^## (.*)\n", (ROOT / "docs" / "walk.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _sessions(section: str, *, also_slow: bool) -> list[tuple[str, list[str]]]:
    """Each command of a section, and the lines that are shown of it."""
    blocks = "\n".join(block for slow, block in _BLOCK.findall(section) if also_slow or not slow)
    _, *parts = re.split(r"^\$ (.*)\n", blocks, flags=re.MULTILINE)
    return [(command, shown.rstrip().splitlines()) for command, shown in zip(parts[::2], parts[1::2], strict=True)]


def _is_shown_by(shown: str, said: str) -> bool:
    pieces = [re.sub(r"(\\ ){2,}", " +", re.escape(piece)) for piece in shown.split(CUT)]
    return re.fullmatch(".*".join(pieces), said) is not None


def _parts(shown: Sequence[str]) -> list[list[str]]:
    """What stands between lines that are only `…`."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == CUT:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def first_unsaid(shown: Sequence[str], said: Sequence[str]) -> list[str] | None:
    """The first part of what is shown that was not said where it should have been; None where all was."""
    parts, at = _parts(shown), 0
    for number, part in enumerate(parts):
        first = at if number == 0 or number < len(parts) - 1 else max(at, len(said) - len(part))
        last = at if number == 0 else len(said) - len(part)
        if len(parts) == 1 and len(part) != len(said):
            return part
        found = (start for start in range(first, last + 1) if _stands_at(part, said, start))
        start = next(found, None)
        if start is None:
            return part
        at = start + len(part)
    return None


def _stands_at(part: Sequence[str], said: Sequence[str], start: int) -> bool:
    return len(said) - start >= len(part) and all(map(_is_shown_by, part, said[start : start + len(part)]))


def _walk(title: str, folder: Path, *, also_slow: bool) -> None:
    for name in NEEDED[title[0]]:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"needs {name}")
    (folder / "packs").symlink_to(ROOT / "packs")
    run, where = _capture().run, [folder]
    for command, shown in _sessions(_sections()[title], also_slow=also_slow):
        said = run(command, where).rstrip().splitlines()
        unsaid = first_unsaid(shown, said)
        assert unsaid is None, "\n".join([f"$ {command}", *said, "", "lacks, in this place:", *unsaid])


@pytest.mark.parametrize("title", _sections())
def test_what_is_quick(title: str, tmp_path: Path) -> None:
    _walk(title, tmp_path, also_slow=False)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("title", [title for title, section in _sections().items() if "<!-- slow -->" in section])
def test_all(title: str, tmp_path: Path) -> None:
    _walk(title, tmp_path, also_slow=True)


@pytest.mark.parametrize(
    ("shown", "is_right"),
    [
        ("one\ntwo\nthree", True),
        ("one\n…\nthree", True),
        ("…\nthree", True),
        ("one\n…", True),
        ("…\ntwo\n…", True),
        ("o…e\ntw…\n…e", True),
        ("one\ntwo", False),
        ("two\nthree", False),
        ("one\nthree", False),
        ("…\ntwo", False),
        ("two\n…", False),
        ("…\nthree\n…\ntwo\n…", False),
        ("…\ntwo\n…\ntwo\n…", False),
        ("one\nt.o\nthree", False),
        ("", False),
    ],
)
def test_what_was_not_said_is_found(shown: str, is_right: bool) -> None:
    assert (first_unsaid(shown.splitlines(), ["one", "two", "three"]) is None) == is_right


def test_columns_may_be_wider() -> None:
    assert _is_shown_by("gate  time  reason", "gate     time  reason")
    assert not _is_shown_by("gate  time", "gate, time")
