"""What all tests share: golden files, Hypothesis without a clock, and a scripted endpoint for agents."""

import json
import signal
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"

# A shared machine may stall for longer than any deadline; the same examples each time, so that a failure is one for everybody.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

# A shell that runs the tests in the background has it ignored, and then what they start ignores it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


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


class Endpoint(BaseHTTPRequestHandler):
    """Speaks the OpenAI chat protocol; gives the answers of a script, one a request, then status 500; a number is a status, bytes are sent as they are."""

    script: list[Any]
    heard: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.heard.append({"path": self.path, "key": self.headers["Authorization"], **json.loads(body)})
        answer = self.script.pop(0) if self.script else 500
        if isinstance(answer, str):
            choices = [{"message": {"role": "assistant", "content": answer}}]
            answer = json.dumps({"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 5}}).encode()
        self.send_response(answer if isinstance(answer, int) else 200)
        self.end_headers()
        self.wfile.write(answer if isinstance(answer, bytes) else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[type[Endpoint]]:
    handler = type("Scripted", (Endpoint,), {"script": [], "heard": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        handler.url = f"http://127.0.0.1:{server.server_port}/v1"  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield handler
        server.shutdown()
        thread.join()
