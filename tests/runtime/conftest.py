"""One warm process for all runs of harnesses in this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harnesses import Warm


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    runner = Warm()
    yield runner
    runner.close()
