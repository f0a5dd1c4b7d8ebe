"""The page on publishing shows what is really said."""

import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_VARYING = re.compile(r"(sha256:)?[0-9a-f]{32,64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[\d,]+ B|\d+ µs|[0-9.]+ s")


def test_sessions_are_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import capture

    page = tmp_path / "publish.md"
    shutil.copy(ROOT / "docs" / "publish.md", page)
    capture.capture(page)
    sys.modules.pop("capture")
    shown, said = ((_VARYING.sub("…", path.read_text(encoding="utf-8"))) for path in (ROOT / "docs" / "publish.md", page))
    assert said == shown, "`python docs/capture.py docs/publish.md` writes it anew"
