"""Whether a task refuses wrong answers: mutants of the reference's answers, judged by the task's own cases and tolerances."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from . import mutants
from .domains import Worker
from .question import Case, PackFault, Question
from .trial import Trial

REJECTED, SURVIVED, ABSENT = "rejected", "survived", "not applicable"
_IGNORES = "let it be drawn so that it shows, or take it out of the op"


@dataclass
class Kind:
    """One kind of wrong answer for one output, over all cases."""

    mutant: str
    output: str
    advice: str
    is_fact: bool = False
    verdicts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """Rejected by one case is enough; where it applies nowhere, nothing is known."""
        found = {one["verdict"] for one in self.verdicts}
        if REJECTED in found:
            return REJECTED
        is_always = self.is_fact and any(one["equal"] for one in self.verdicts)
        return SURVIVED if SURVIVED in found or is_always else ABSENT

    def to_dict(self) -> dict[str, Any]:
        near = max((one for one in self.verdicts if one["verdict"] == SURVIVED), key=lambda one: one["nearness"], default=None)
        nearest = {key: near[key] for key in ("case", "distribution", "nearness")} if near else None
        survivors = [{"case": one["case"], "distribution": one["distribution"]} for one in self.verdicts if one["verdict"] == SURVIVED]
        said = {"mutant": self.mutant, "output": self.output, "verdict": self.verdict, "advice": self.advice}
        return {**said, "nearest": nearest, "survives": survivors, "judged": sum(one["verdict"] != ABSENT for one in self.verdicts)}


class Prober:
    """Asks the reference case by case and judges what wrong candidates would have answered."""

    def __init__(self, question: Question, reference: Worker, rng: random.Random) -> None:
        self.question, self.reference, self.rng = question, reference, rng
        self.outputs = [a["name"] for role in ("inout", "output") for a in question.tensors(role)]
        self.inputs = [a["name"] for a in question.tensors("input", "inout")]
        self.kinds: dict[tuple[str, str], Kind] = {}

    def probe(self, note: Callable[..., None]) -> dict[str, Any]:
        """Every kind of mutant with its verdict; raises PackFault where the pack cannot be asked."""
        seen = self.question.seen_cases()
        cases = [*seen, *self.question.draw_cases(self.rng)]
        edges = list(dict.fromkeys(edge for a in self.question.tensors("input", "inout") for edge in a["edges"]))
        for case in cases:
            for distribution in ["declared", *(edges if case is seen[0] else [])]:
                note("case", gate="probe", case=case.id, verdict="pass", reason=distribution)
                self._probe_case(case, distribution, cases)
        found = [kind.to_dict() for kind in self.kinds.values()]
        return {"cases": len(cases), "mutants": found, "weak": [one for one in found if one["verdict"] == SURVIVED]}

    def _probe_case(self, case: Case, distribution: str, cases: list[Case]) -> None:
        with Trial(self.question, case, 1, self.reference, {}) as trial:
            trial.bind_reference()
            trial.fill(self.rng, distribution)
            trial.expect(1)
            earlier = trial.answers(None)
            trial.fill(self.rng, distribution)
            trial.expect(1)
            look = _Look(self, trial, distribution)
            look.judge_table(earlier)
            for parameter, other in self._others(case, cases):
                look.judge(f"`{parameter}` ignored", self._ask_otherwise(case, parameter, other, look.given), _IGNORES, is_same_wrong=True)
            for one, other in mutants.swaps(look.given):
                answers = look.ask({one: look.given[other], other: look.given[one]})
                look.judge(f"`{one}` and `{other}` exchanged", answers, f"draw `{one}` and `{other}` from different distributions")
            for name in self.inputs:
                look.judge_input(name)

    def _others(self, case: Case, cases: list[Case]) -> Iterator[tuple[str, Any]]:
        """Flags and scalars that vary, with other values that the cases have."""
        for name in (*self.question.plan["names"]["flags"], *self.question.plan["names"]["scalars"]):
            values = dict.fromkeys(one.values[name] for one in cases)
            yield from ((name, value) for value in values if value != case.values[name])

    def _ask_otherwise(self, case: Case, name: str, value: Any, given: dict[str, torch.Tensor]) -> list[torch.Tensor] | None:
        """What the reference answers on the same inputs with another value; None where it cannot be asked."""
        other = replace(case, values={**case.values, name: value})
        if not all(holds for _, holds in self.question.expressions.constraints(**other.values)):
            return None
        shapes = self.question.shapes(other)
        if any(shapes[one] != tuple(tensor.shape) for one, tensor in given.items()):
            return None
        try:
            with Trial(self.question, other, 1, self.reference, {}) as trial:
                trial.bind_reference()
                trial.put(given)
                trial.expect(1)
                return trial.answers(None)
        except PackFault:
            return None


class _Look:
    """One case with one distribution: the answers, and wrong ones judged against them."""

    def __init__(self, prober: Prober, trial: Trial, distribution: str) -> None:
        self._prober, self._trial, self._distribution = prober, trial, distribution
        self.given, self.expected = trial.given(), trial.answers(None)

    def judge_table(self, earlier: list[torch.Tensor]) -> None:
        for place, name in enumerate(self._prober.outputs):
            seen = mutants.Seen(self.expected[place], self._dtype(name), self.given, earlier[place])
            for mutant in mutants.MUTANTS:
                self._record(mutant.name, place, mutant.make(seen), mutant.advice, is_fact=mutant.is_fact)
            for words, answer in mutants.copies(seen).items():
                self._record(words, place, answer, "let the op's answers differ from its inputs in a case")

    def judge(self, words: str, answers: list[torch.Tensor] | None, advice: str, *, is_same_wrong: bool = False) -> None:
        """Answers to another question, which at least one output must tell from the right ones; where `is_same_wrong`, they may not be equal either."""
        found = [self._look(place, answers[place] if answers else None, is_same_wrong=is_same_wrong) for place in range(len(self.expected))]
        order = {REJECTED: 0, SURVIVED: 1, ABSENT: 2}
        self._keep(words, ", ".join(self._prober.outputs), advice, min(found, key=lambda one: order[one["verdict"]]))

    def judge_input(self, name: str) -> None:
        """The answer from before one input changed: a candidate that ignores the input gives it."""
        words = f"`{name}` ignored"
        kept = self._prober.kinds.get((words, ", ".join(self._prober.outputs)))
        if kept is not None and kept.verdict == REJECTED:
            return
        after = None
        with suppress(PackFault, KeyError):  # it is made of others, or does not go with them
            self._trial.change(name, self._prober.rng)
            other = self._trial.given()[name]
            # What is drawn and never varies can be ignored as well: the same answer counts as one that passes.
            after = self.expected if torch.equal(other, self.given[name]) and not self._is_fixed(name) else self.ask({name: other})
        self._trial.put(self.given)
        self.judge(words, after, _IGNORES, is_same_wrong=True)

    def _is_fixed(self, name: str) -> bool:
        """Whether the declaration leaves nothing to be drawn: what is made of others, or kept in a file."""
        init = self._prober.question.expressions.inits(**self._trial.case.values)[name]
        return not {"derive", "file"}.isdisjoint(init)

    def ask(self, contents: dict[str, torch.Tensor]) -> list[torch.Tensor] | None:
        """The reference's answers with some inputs changed; then all is as before."""
        try:
            self._trial.put(contents)
            self._trial.expect(1)
            return self._trial.answers(None)
        except PackFault:
            return None
        finally:
            self._trial.put(self.given)
            self._trial.expect(1)

    def _record(self, words: str, place: int, answer: torch.Tensor | None, advice: str, *, is_fact: bool = False) -> None:
        self._keep(words, self._prober.outputs[place], advice, self._look(place, answer), is_fact=is_fact)

    def _keep(self, words: str, output: str, advice: str, verdict: dict[str, Any], *, is_fact: bool = False) -> None:
        self._prober.kinds.setdefault((words, output), Kind(words, output, advice, is_fact)).verdicts.append(verdict)

    def _look(self, place: int, answer: torch.Tensor | None, *, is_same_wrong: bool = False) -> dict[str, Any]:
        """The verdict of the task's own comparison."""
        said = {"case": self._trial.case.id, "distribution": self._distribution, "nearness": 0.0, "equal": False}
        expected, name = self.expected[place], self._prober.outputs[place]
        if answer is None or not expected.numel():
            return {**said, "verdict": ABSENT}
        if answer.shape != expected.shape:
            return {**said, "verdict": REJECTED}
        wrong = mutants.stored(answer, self._dtype(name))
        is_equal = mutants.same(answer, expected) or mutants.same(wrong, mutants.stored(expected, wrong.dtype))
        if is_equal:
            return {**said, "verdict": SURVIVED if is_same_wrong else ABSENT, "equal": True}
        observed = self._trial.judge_answer(name, wrong)
        allowed = observed.rtol * abs(float(expected[observed.worst_index])) + observed.atol * observed.scale
        error = abs(float(wrong[observed.worst_index]) - float(expected[observed.worst_index]))
        nearness = error / allowed if allowed else 0.0
        return {**said, "verdict": SURVIVED if observed.is_equal else REJECTED, "nearness": nearness}

    def _dtype(self, name: str) -> torch.dtype:
        dtype: torch.dtype = getattr(torch, self._prober.question.dtype(self._prober.question.tensor(name), self._trial.case))
        return dtype
