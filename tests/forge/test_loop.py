"""Stages in order, proposals judged against the stage's input, and what stands at the end; the harness is a function of the candidate here."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskpack.forge.accept import judge_result
from taskpack.forge.loop import StageEnd, best_of, run_pipeline
from taskpack.forge.stages import order_stages, reason_to_skip
from taskpack.forge.trials import Files, Proposal, Request, Trial
from taskpack.forge.tune import tune
from taskpack.packs.pipeline import Accept, Pipeline

FACTS = {"language": "cpp", "is_native": True, "files": 1, "kernels": 1}


def pipeline(*stages: Mapping[str, Any], rounds: int = 5) -> Pipeline:
    full = [{"summary": "…", "prompt": f"{stage['id']}.md", **stage} for stage in stages]
    return Pipeline.model_validate_json(json.dumps({"doc": "…", "rounds": rounds, "stage": full}))


def result(
    speedup: tuple[float, float, float] | None = None,
    cases: Mapping[str, tuple[float, float, float]] | None = None,
    **verdicts: str,
) -> dict[str, Any]:
    gates = {"compile": "pass", "correct": "pass", "general": "pass", "fast": "pass" if speedup else "skip", **verdicts}
    return {
        "gates": [{"gate": gate, "verdict": verdict, "reason": f"because of {gate}"} for gate, verdict in gates.items()],
        "speedup": dict(zip(("geomean", "low", "high"), speedup, strict=True)) if speedup else None,
        "timing": [
            {"case": case, "unseen": case.startswith("unseen"), "speedup": ratio, "low": low, "high": high}
            for case, (ratio, low, high) in (cases or {}).items()
        ],
    }


@pytest.mark.parametrize(
    ("observed", "accept", "outcome", "words"),
    [
        (result((1.5, 1.4, 1.6)), Accept(), "accepted", "1.50x (1.40–1.60)"),
        (result((1.01, 0.99, 1.03)), Accept(), "no-gain", "want faster beyond noise"),
        (result((1.03, 1.01, 1.05)), Accept(gain=0.02), "no-gain", "want more than 1.02x"),
        (result((0.5, 0.4, 0.6), fast="fail"), Accept(), "no-gain", "0.50x"),
        (result((1.5, 1.4, 1.6), {"a": (2.0, 1.9, 2.1), "b": (0.9, 0.85, 0.95)}), Accept(), "worse", "`b` 0.90x (0.85–0.95)"),
        (result((1.5, 1.4, 1.6), {"b": (0.9, 0.85, 0.99)}), Accept(), "accepted", "1.50x"),
        (result((1.5, 1.4, 1.6), {"unseen-1.1": (0.5, 0.4, 0.6)}), Accept(), "accepted", "1.50x"),
        (result((1.5, 1.4, 1.6), {"b": (0.9, 0.85, 0.95)}), Accept(regression=0.1), "accepted", "1.50x"),
        (result(), Accept(), "verified", "because of fast"),
        (result(compile="fail"), Accept(), "wrong", "compile: because of compile"),
        (result(rules="fail"), Accept(), "refused", "rules: because of rules"),
        (result(general="fail"), Accept(), "wrong", "general"),
        (result(general="inconclusive"), Accept(), "inconclusive", "general"),
        (result(fast="inconclusive"), Accept(), "inconclusive", "fast"),
        (result(fast="fail"), Accept(), "wrong", "fast: because of fast"),
    ],
)
def test_outcomes(observed: dict[str, Any], accept: Accept, outcome: str, words: str) -> None:
    found, reason = judge_result(observed, accept)
    assert found == outcome
    assert words in reason


def test_stages_come_after_those_they_name_and_else_as_they_stand() -> None:
    made = pipeline({"id": "a", "after": ["c"]}, {"id": "b"}, {"id": "c"}, {"id": "d", "after": ["a", "b"]})
    assert [stage.id for stage in order_stages(made)] == ["b", "c", "a", "d"]
    assert [stage.id for stage in order_stages(made, {"d", "c"})] == ["c", "d"]


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(0, 2**32))))
def test_every_order_keeps_every_edge(drawn: tuple[list[int], int]) -> None:
    places, seed = drawn
    rng = random.Random(seed)
    after = {f"s{i}": [f"s{j}" for j in range(len(places)) if places[j] < places[i] and rng.random() < 0.4] for i in range(len(places))}
    ordered = [stage.id for stage in order_stages(pipeline(*({"id": name, "after": names} for name, names in after.items())))]
    assert sorted(ordered) == sorted(after)
    assert all(ordered.index(before) < ordered.index(name) for name, names in after.items() for before in names)


@pytest.mark.parametrize(
    ("stage", "why"),
    [
        ({"languages": ["triton"]}, "nothing to do in cpp: for triton"),
        ({"skip-when": "kernels == 1"}, "nothing to do: kernels == 1"),
        ({"skip-when": "kernels > 1"}, None),
        ({"skip-when": "dots == 0"}, None),
        ({}, None),
    ],
)
def test_a_stage_is_skipped_with_its_reason_and_never_for_a_fact_that_is_not_known(stage: dict[str, Any], why: str | None) -> None:
    (made,) = pipeline({"id": "a", **stage}).stages
    assert reason_to_skip(made, FACTS) == why


class Scripted:
    """Proposals by stage; a candidate's speed is the number in its text, and a text that starts with a word has that word's outcome."""

    def __init__(self, **proposals: list[str]) -> None:
        self.proposals = proposals
        self.judged: list[str] = []
        self.recorded: list[Trial] = []
        self.told: list[Request] = []

    def propose(self, request: Request) -> Proposal | None:
        self.told.append(request)
        left = self.proposals.get(request.stage.id, [])[len(request.history) :]
        return Proposal({"kernel": left[0]}, {"agent": {"tokens": len(left)}}) if left else None

    def judge(self, files: Files, against: Files) -> dict[str, Any]:
        text = files["kernel"]
        self.judged.append(text)
        if text == "wrong":
            return result(correct="fail")
        if text == "ruled":
            return result(rules="fail")
        ratio = float(text) / float(against["kernel"])
        return result((ratio, ratio - 0.05, ratio + 0.05))

    def run(self, made: Pipeline, done: tuple[Trial, ...] = (), record: Callable[[Trial], None] | None = None) -> list[StageEnd]:
        prompts = {stage.id: f"do {stage.id}" for stage in made.stages}
        return list(
            run_pipeline(
                made, {"kernel": "1"}, prompts, lambda _: FACTS, self.propose, self.judge, done, lambda trial, _: (record or self.recorded.append)(trial)
            )
        )


STAGES = pipeline(
    {"id": "first"}, {"id": "triton-only", "languages": ["triton"]}, {"id": "second", "after": ["first"], "rounds": 2}, {"id": "third", "after": ["second"]}
)
SCRIPT = {"first": ["ruled", "wrong", "1.5", "2", "1.8"], "second": ["1", "2", "5"], "third": ["2.02", "2.02"]}


def test_each_stage_starts_from_what_the_one_before_left() -> None:
    script = Scripted(**SCRIPT)
    first, skipped, second, third = script.run(STAGES)
    assert [trial.outcome for trial in first.trials] == ["refused", "wrong", "accepted", "accepted", "accepted"]
    assert first.files == {"kernel": "2"}
    assert skipped.skipped == "nothing to do in cpp: for triton"
    assert [trial.outcome for trial in second.trials] == ["no-gain", "repeated"]
    assert second.files == first.files
    assert [trial.outcome for trial in third.trials] == ["no-gain", "repeated"]
    assert third.files == {"kernel": "2"}
    assert script.judged == ["ruled", "wrong", "1.5", "2", "1.8", "1", "2.02"]


def test_a_proposer_is_told_everything_of_its_stage() -> None:
    script = Scripted(**SCRIPT)
    script.run(STAGES)
    last = [request for request in script.told if request.stage.id == "first"][-1]
    assert (last.prompt, last.language, last.start, last.best) == ("do first", "cpp", {"kernel": "1"}, {"kernel": "2"})
    assert [trial.outcome for trial in last.history] == ["refused", "wrong", "accepted", "accepted"]


@pytest.mark.parametrize("killed_after", range(10))
def test_a_run_that_was_killed_goes_on_with_the_same_end_and_judges_nothing_twice(killed_after: int) -> None:
    whole = Scripted(**SCRIPT)
    ends = whole.run(STAGES)
    kept: list[Trial] = []

    def record(trial: Trial) -> None:
        if len(kept) == killed_after:
            raise KeyboardInterrupt
        kept.append(trial)

    begun, resumed = Scripted(**SCRIPT), Scripted(**SCRIPT)
    if killed_after < len(whole.recorded):
        with pytest.raises(KeyboardInterrupt):
            begun.run(STAGES, record=record)
    else:
        begun.run(STAGES, record=record)
    assert resumed.run(STAGES, done=tuple(kept)) == ends
    assert kept + resumed.recorded == whole.recorded


def test_the_surest_gain_stands() -> None:
    trials = [Trial("s", n, {"k": str(n)}, "accepted", "", {"geomean": g, "low": low, "high": 9.0}) for n, g, low in [(1, 3.0, 1.1), (2, 2.0, 1.9)]]
    assert best_of(trials) == trials[1]
    assert best_of([Trial("s", 1, {"k": "1"}, "wrong", "")]) is None


def test_a_proposer_that_repeats_itself_is_not_asked_for_ever() -> None:
    script = Scripted(first=["2", "2", "3", "3", "2", "never asked"])
    first, *_ = script.run(pipeline({"id": "first"}, rounds=9))
    assert [trial.outcome for trial in first.trials] == ["accepted", "repeated", "accepted", "repeated", "repeated"]


SOURCE = "constexpr int kRows = 4;\n#define COLS 8\n"


def _speed(files: Files) -> float:
    rows, cols = (int("".join(filter(str.isdigit, line))) for line in files["kernel"].splitlines())
    return 16 / (1 + abs(rows.bit_length() - 6)) * 16 / (1 + abs(cols.bit_length() - 2))


def test_tune_climbs_to_the_best_of_its_neighbourhood_and_ends() -> None:
    made = pipeline({"id": "tune"}, rounds=100)

    def judge(files: Files, against: Files) -> dict[str, Any]:
        ratio = _speed(files) / _speed(against)
        return result((ratio, ratio * 0.99, ratio * 1.01))

    (end,) = run_pipeline(made, {"kernel": SOURCE}, {"tune": ""}, lambda _: FACTS, tune, judge, (), lambda *_: None)
    assert end.files == {"kernel": "constexpr int kRows = 32;\n#define COLS 2\n"}
    assert len(end.trials) < 20
    assert all(trial.outcome != "repeated" for trial in end.trials)


def test_tune_without_a_clock_ends_with_the_first_candidate_that_is_right() -> None:
    def judge(files: Files, _: Files) -> dict[str, Any]:
        return result(correct="fail") if "kRows = 8" in files["kernel"] else result()

    (end,) = run_pipeline(pipeline({"id": "tune"}), {"kernel": SOURCE}, {"tune": ""}, lambda _: FACTS, tune, judge, (), lambda *_: None)
    assert [trial.outcome for trial in end.trials] == ["wrong", "verified"]
    assert end.files == {"kernel": SOURCE.replace("kRows = 4", "kRows = 2")}
