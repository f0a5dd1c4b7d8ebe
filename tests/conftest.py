"""What all tests share: golden files, and Hypothesis without a clock."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"

# A shared machine may stall for longer than any deadline; the same examples each time, so that a failure is one for everybody.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing with them")


class _Written:
    """Equals any text, and keeps it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    __hash__ = None

    def __eq__(self, text: object) -> bool:
        assert isinstance(text, str)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text, encoding="utf-8", newline="\n")
        return True


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str | Path], object]:
    """`assert text == golden("name.txt")`: a file below tests/golden, or an absolute path; `--update-golden` writes it."""

    def read(name: str | Path) -> object:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            return _Written(path)
        if not path.exists():
            pytest.fail(f"there is no {path}; write it with --update-golden, then read it")
        return path.read_text(encoding="utf-8")

    return read
