"""Agents at work: what they are given, and how they are stopped."""

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from taskpack.arena.chat import files_in
from taskpack.arena.launch import launch
from taskpack.arena.workspace import Workspace, take_candidate
from taskpack.errors import UsageError
from taskpack.packs.agent import Agent

from .conftest import FASTER

Make = Callable[[], Workspace]


def _command(script: str, prompt: str = "stdin", **limits: float) -> Agent:
    words = (sys.executable, "-c", script, *(["{prompt}"] if prompt == "file" else []))
    return Agent.model_validate({"launch": "command", "command": {"argv": words, "prompt": prompt}, "limits": {"timeout-s": 30, **limits}})


def _never() -> str:
    raise AssertionError("nobody asks")


@pytest.mark.parametrize(("prompt", "read"), [("stdin", "sys.stdin.read()"), ("file", "open(sys.argv[1]).read()")])
def test_a_command_gets_the_prompt_and_works_in_the_workspace(prompt: str, read: str, workspace: Make) -> None:
    made = workspace()
    script = f"import sys; text = {read}; open('kernel.cpp', 'w').write(text); print('done'); sys.exit(4)"
    launched = launch(_command(script, prompt), made, None, _never)
    assert (launched.ending, launched.code, launched.log) == ("exit", 4, b"done\n")
    assert take_candidate(made)["kernel.cpp"] == (made.folder / "PROMPT.md").read_bytes()


def test_a_command_that_takes_too_long(workspace: Make) -> None:
    made = workspace()
    begin = time.monotonic()
    launched = launch(_command("print('begun', flush=True); import time; time.sleep(600)", **{"timeout-s": 1}), made, None, _never)
    assert (launched.ending, launched.code, launched.log) == ("timeout", None, b"begun\n")
    assert time.monotonic() - begin < 20


def test_a_command_that_prints_too_much(workspace: Make) -> None:
    launched = launch(_command("while True: print('x' * 10_000)", **{"output-mib": 2}), workspace(), None, _never)
    assert (launched.ending, len(launched.log)) == ("output", 1 << 20)


def test_what_is_replayed(workspace: Make, tmp_path: Path) -> None:
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared" / "kernel.cpp").write_text(FASTER)
    made = workspace()
    launch(Agent.model_validate({"launch": "replay"}), made, tmp_path / "prepared", _never)
    assert take_candidate(made) == {"kernel.cpp": FASTER.encode()}


def _chat(endpoint: Any, **more: Any) -> Agent:
    table = {"base-url": endpoint.url, "model": "scripted", **more}
    return Agent.model_validate({"launch": "openai-chat", "openai-chat": table, "limits": {"timeout-s": 20}})


def _block(text: str) -> str:
    return f"Here it is.\n\n```cpp kernel.cpp\n{text}```\n"


def test_a_model_is_told_what_the_judge_says_until_it_passes(endpoint: Any, workspace: Make) -> None:
    made = workspace()
    endpoint.script += ["I think about it.", _block("wrong\n"), _block(FASTER), "never asked"]
    verdicts = iter(["fail\ncorrect: fail: y differs\n", "pass\ncorrect: pass\n"])
    launched = launch(_chat(endpoint), made, None, lambda: next(verdicts))
    assert take_candidate(made) == {"kernel.cpp": FASTER.encode()}
    assert (launched.ending, launched.testimony) == ("exit", {"rounds": 3, "prompt_tokens": 30, "completion_tokens": 15})
    first, second, third = endpoint.heard
    assert first["path"] == "/v1/chat/completions"
    assert first["key"] is None
    assert (made.folder / "PROMPT.md").read_text() in first["messages"][0]["content"]
    assert "kernel.cpp" in second["messages"][-1]["content"]
    assert "y differs" in third["messages"][-1]["content"]
    assert b"y differs" in launched.log


def test_rounds_are_counted(endpoint: Any, workspace: Make) -> None:
    endpoint.script += [_block("1\n"), _block("2\n"), _block("3\n")]
    made = workspace()
    launched = launch(_chat(endpoint, rounds=2), made, None, lambda: "fail\n")
    assert launched.testimony["rounds"] == 2
    assert take_candidate(made) == {"kernel.cpp": b"2\n"}


@pytest.mark.parametrize("answer", [500, b"no JSON", b'{"choices": []}', b'{"choices": null}', b"[]", b"[" * 100_000, b"x" * (17 << 20)])
def test_an_endpoint_that_gives_no_answer(answer: Any, endpoint: Any, workspace: Make) -> None:
    endpoint.script.append(answer)
    launched = launch(_chat(endpoint), workspace(), None, _never)
    assert launched.ending == "exit"
    assert launched.testimony["error"].startswith(endpoint.url) or "more than 16 MiB" in launched.testimony["error"]


@pytest.mark.parametrize("usage", ["[1]", '"many"', "NaN", '{"prompt_tokens": "ten", "completion_tokens": -1}'])
def test_what_an_endpoint_says_beside_its_answer_is_not_trusted(usage: str, endpoint: Any, workspace: Make) -> None:
    made = workspace()
    content = json.dumps(_block("odd\n"))[:-1] + '\\ud800"'
    endpoint.script.append(f'{{"choices": [{{"message": {{"role": "assistant", "content": {content}}}}}], "usage": {usage}}}'.encode())
    launched = launch(_chat(endpoint), made, None, lambda: "pass\n")
    assert launched.testimony == {"rounds": 1, "prompt_tokens": 0, "completion_tokens": 0}
    assert take_candidate(made) == {"kernel.cpp": b"odd\n"}


def test_an_answer_that_drips_ends_with_the_time(workspace: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_drip, args=(server,), daemon=True).start()
        table = {"base-url": f"http://127.0.0.1:{server.getsockname()[1]}/v1", "model": "slow"}
        agent = Agent.model_validate({"launch": "openai-chat", "openai-chat": table, "limits": {"timeout-s": 1.5}})
        begin = time.monotonic()
        launched = launch(agent, workspace(), None, _never)
    assert launched.ending == "timeout"
    assert time.monotonic() - begin < 6


def _drip(server: socket.socket) -> None:
    """A byte of an answer in a tenth of a second, for as long as somebody listens."""
    heard, _ = server.accept()
    with heard, contextlib.suppress(OSError):
        heard.recv(1 << 16)
        heard.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            heard.sendall(b" ")
            time.sleep(0.1)


def test_a_key_comes_from_the_environment(endpoint: Any, workspace: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="SOME_KEY"):
        launch(_chat(endpoint, **{"key-env": "SOME_KEY"}), workspace(), None, _never)
    monkeypatch.setenv("SOME_KEY", "open sesame")
    endpoint.script.append(_block("x\n"))
    launched = launch(_chat(endpoint, **{"key-env": "SOME_KEY"}), workspace(), None, lambda: "pass\n")
    assert endpoint.heard[0]["key"] == "Bearer open sesame"
    assert b"sesame" not in launched.log


def test_files_in_an_answer() -> None:
    text = "```cpp a.cpp\n1\n```\n\n```b/c.py\n2\n```\n```other.txt\n3\n```\n``` a.cpp\n4\n```\n"
    assert files_in(text, ("a.cpp", "b/c.py")) == {"a.cpp": b"4\n", "b/c.py": b"2\n"}
