"""Agents as proposers: what they are told in a stage, what is kept of them, and when a run stops because of them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from taskpack.forge.agents import findings_of
from taskpack.forge.trials import Trial

from .conftest import PACKS, needs_compiler, optimize, outcomes, run_of, tree_of

HEAD = 'format = 1\n\n[pack]\nkind = "agent"\nname = "local/agent"\nversion = "0.1.0"\nsummary = "For tests"\nlicense = "Apache-2.0"\n'
EXAMPLES = PACKS / "cpp2cpp-softmax" / "examples"
ON_CPP = ("arena/cpp2cpp-softmax", "--quick", "--target", "cpu", "--agent")


def _write_agent(folder: Path, text: str) -> str:
    folder.mkdir()
    (folder / "pack.toml").write_text(HEAD + text, encoding="utf-8")
    return str(folder)


def _command(folder: Path, script: str) -> str:
    return _write_agent(folder, f'[agent]\nlaunch = "command"\n\n[agent.command]\nargv = ["sh", "-c", {json.dumps(script)}]\n')


@needs_compiler
def test_an_agent_hears_what_the_seen_cases_showed_and_nothing_of_the_others(tmp_path: Path) -> None:
    """Round by round: wrong on a seen case, wrong on unseen ones only, does not compile."""
    script = f"""
    case "$(ls tried 2>/dev/null | wc -l)" in
        0) cp {shlex.quote(str(EXAMPLES / "no-maximum"))}/kernel.cpp .;;
        1) cp {shlex.quote(str(EXAMPLES / "whole-tiles"))}/kernel.cpp .;;
        *) echo '#error three' > kernel.cpp; echo words; echo notes > notes.txt;;
    esac"""
    done = optimize(tmp_path, *ON_CPP, _command(tmp_path / "agent", script), "--stage", "algorithm")
    assert done.returncode == 0, done.stderr
    tree = tree_of(tmp_path)["algorithm"]
    assert outcomes(tree) == ["wrong", "wrong", "wrong", "repeated", "repeated"]
    units = run_of(tmp_path) / "units"
    second, third, fourth = ((units / f"algorithm.00{number}" / "prompt.md").read_text(encoding="utf-8") for number in (2, 3, 4))
    assert "round 1, in `tried/1/`: wrong" in second
    assert "case square: y differs at" in second
    assert "general: fail, on cases that are not shown" in third
    assert "unseen" not in third.partition("## This stage")[2]
    assert "kernel.cpp:1:" in fourth
    assert "The same result from less work" in second
    assert (units / "algorithm.003" / "log.txt").read_text(encoding="utf-8") == "words\n"
    assert "+++ b/notes.txt" in (units / "algorithm.003" / "diff.patch").read_text(encoding="utf-8")
    assert (units / "algorithm.003" / "candidate" / "kernel.cpp").read_text(encoding="utf-8") == "#error three\n"
    agent = tree["trials"][0]["agent"]
    assert (agent["name"], agent["ending"], agent["code"]) == ("local/agent", "exit", 0)


@needs_compiler
@pytest.mark.slow
def test_a_model_behind_an_endpoint_proposes(endpoint: Any, tmp_path: Path) -> None:
    wrong, tiles = ((EXAMPLES / name / "kernel.cpp").read_text(encoding="utf-8") for name in ("no-maximum", "whole-tiles"))
    endpoint.script += [f"```cpp kernel.cpp\n{text}```\n" for text in (wrong, tiles)]
    agent = _write_agent(
        tmp_path / "agent", f'[agent]\nlaunch = "openai-chat"\n\n[agent.openai-chat]\nbase-url = "{endpoint.url}"\nmodel = "scripted"\nrounds = 2\n'
    )
    done = optimize(tmp_path, *ON_CPP, agent, "--stage", "memory")
    assert done.returncode == 6  # the script ends here: the endpoint answers no more
    assert "proposed nothing: " in done.stderr
    assert "`--resume` goes on with this run" in done.stderr
    (first,) = tree_of(tmp_path)["memory"]["trials"]
    assert (first["outcome"], first["reason"].partition(":")[0]) == ("wrong", "general")  # the door passed it: it is right on seen cases
    assert first["agent"]["testimony"] == {"rounds": 2, "prompt_tokens": 20, "completion_tokens": 10}
    assert "## This stage: memory" in endpoint.heard[0]["messages"][0]["content"]
    assert "y differs at" in endpoint.heard[1]["messages"][-1]["content"]

    endpoint.script += [f"```cpp kernel.cpp\n{text}```\n" for text in (tiles, tiles)]
    again = optimize(tmp_path, *ON_CPP, agent, "--stage", "memory", "--resume", str(run_of(tmp_path)))
    assert again.returncode == 0, again.stderr
    assert outcomes(tree_of(tmp_path)["memory"])[1:] == ["repeated", "repeated"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no such model >&2; exit 7", "the agent local/agent proposed nothing: it ended with 7: no such model"),
        ("exit 3", "it ended with 3: it printed nothing"),
    ],
)
def test_an_agent_that_fails_without_a_change_stops_the_run(script: str, said: str, tmp_path: Path) -> None:
    done = optimize(tmp_path, *ON_CPP, _command(tmp_path / "agent", script))
    assert done.returncode == 1
    assert said in done.stderr
    assert all(not stage["trials"] for stage in tree_of(tmp_path).values())


def test_the_agent_in_the_variable_that_is_not_set_is_told(tmp_path: Path) -> None:
    done = optimize(tmp_path, *ON_CPP, "command", TASKPACK_AGENT="")
    assert done.returncode == 1
    assert "holds no command; export TASKPACK_AGENT=" in done.stderr


def test_none_proposes_nothing(tmp_path: Path) -> None:
    done = optimize(tmp_path, *ON_CPP, "none", "--stage", "memory")
    assert done.returncode == 0, done.stderr
    assert "memory: nothing was proposed" in done.stdout
    assert "as it was: " in done.stdout


@needs_compiler
def test_a_pack_replays_stages(tmp_path: Path) -> None:
    text = '[pack.dependencies]\n"arena/cpp2cpp-softmax" = "^0.1"\n\n[agent]\nlaunch = "replay"\n\n[agent.replay.stages]\n"arena/cpp2cpp-softmax" = "made"\n'
    agent = _write_agent(tmp_path / "agent", text)
    made = tmp_path / "agent" / "made" / "memory" / "1"
    made.mkdir(parents=True)
    (made / "kernel.cpp").write_text("#error one\n", encoding="utf-8")
    done = optimize(tmp_path, *ON_CPP, agent, "--stage", "memory")
    assert done.returncode == 0, done.stderr
    assert "memory 1: wrong: compile: kernel.cpp:1" in done.stderr
    other = optimize(tmp_path, "arena/cpp2cpp-matmul", "--agent", agent)
    assert other.returncode == 2
    assert "local/agent has no proposals for the stages of arena/cpp2cpp-matmul" in other.stderr


@needs_compiler
def test_a_candidate_that_is_taken_away_does_not_compile(tmp_path: Path) -> None:
    done = optimize(tmp_path, *ON_CPP, _command(tmp_path / "agent", "rm kernel.cpp"), "--stage", "memory")
    assert done.returncode == 0, done.stderr
    assert "memory 1: wrong: compile: " in done.stderr


@needs_compiler
def test_an_agent_that_changed_is_another_run(tmp_path: Path) -> None:
    agent = _command(tmp_path / "agent", "echo '#error' > kernel.cpp")
    assert optimize(tmp_path, *ON_CPP, agent, "--stage", "memory").returncode == 0
    (tmp_path / "agent" / "notes.md").write_text("The same agent, thought over.", encoding="utf-8")
    again = optimize(tmp_path, *ON_CPP, agent, "--stage", "memory", "--resume", str(run_of(tmp_path)))
    assert again.returncode == 2
    assert "is a run with other packs" in again.stderr


def _trial(gate: str, verdict: str = "fail", **more: Any) -> Trial:
    result = {"gates": [{"gate": "compile", "verdict": "pass", "reason": ""}, {"gate": gate, "verdict": verdict, "reason": f"secret of {gate}"}], "cases": []}
    return Trial("s", 1, {}, "wrong", f"{gate}: secret of {gate}", None, {**result, **more})


@pytest.mark.parametrize(
    ("trial", "told"),
    [
        (_trial("compile"), ["compile: secret of compile"]),
        (_trial("general"), ["general: fail, on cases that are not shown"]),
        (_trial("general", "inconclusive"), ["general: inconclusive, on cases that are not shown"]),
        (_trial("fast"), ["fast: fail"]),
        (
            _trial("rules", findings=[{"level": "error", "file": "k.py", "line": 3, "rule": "a/b", "message": "m", "fix": "f"}]),
            ["rules: secret of rules", "k.py:3: a/b: m; f"],
        ),
        (
            _trial("correct", cases=[{"gate": "correct", "verdict": "fail", "case": "c", "reason": "r"}, {"gate": "correct", "verdict": "pass", "case": "d"}]),
            ["correct: secret of correct", "case c: r"],
        ),
        (Trial("s", 2, {}, "repeated", "the same as round 1"), ["the same as round 1"]),
        (Trial("s", 1, {}, "no-gain", "1.01x (0.99–1.03)", {"low": 0.99}, {"gates": [{"gate": "fast", "verdict": "pass"}]}), ["1.01x (0.99–1.03)"]),
    ],
)
def test_what_is_told_of_a_trial(trial: Trial, told: list[str]) -> None:
    assert findings_of(trial) == told
