"""One case set up in shared memory: fresh inputs, poisoned outputs, the reference's answers, and what the outputs say."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from . import compare, tolerance
from .domains import Answered, Failed, Pause, Worker
from .memory import Arena, Layout, home, lay_out
from .question import Case, PackFault, Question

NAN_POISON = -1
"""All bits set: NaN in every float format, -1 or the largest value in integers."""

_WAKES = 3
"""Empty launches before a timed pass on a device that was busy for other processes: an H200 took 450 µs for a pass of one call without, 190 after three."""
_COMPARED_TOGETHER = 1 << 27
"""Elements; each takes some 40 bytes."""

_bindings = itertools.count()


@dataclass(frozen=True)
class Finding:
    """What one output of one call shows."""

    name: str
    comparison: compare.Comparison


class Trial:
    """The memory of one case with `sets` input sets, bound in the reference's process and in those of the sides."""

    def __init__(self, question: Question, case: Case, sets: int, reference: Worker, sides: Mapping[str, Worker]) -> None:
        self.question, self.case, self.sets = question, case, sets
        self.shapes = question.shapes(case)
        self.binding = next(_bindings)
        self._reference, self._sides = reference, sides
        self._kept: dict[str, torch.Tensor] = {}
        self._kept_shared: dict[str, torch.Tensor] = {}
        self._expected_sets = 0
        self._touched = dict.fromkeys(sides, 0)
        self._shared = [a["name"] for a in question.tensors("input") if a.get("shared")]
        self._stale = {side: set(self._shared) for side in sides}
        self._has_shared = False
        self._has_bound: set[str] = set()
        try:
            self._inputs = {a["name"]: Arena(self._layout(a), is_writable=False) for a in question.tensors("input", "inout")}
            self._expected = {a["name"]: Arena(self._layout(a, wide=True), is_writable=True) for a in question.tensors("inout", "output")}
            self._outputs = {side: {a["name"]: Arena(self._layout(a), is_writable=True) for a in question.tensors("inout", "output")} for side in sides}
        except OSError as error:
            raise PackFault(f"{case.words} takes more memory than there is: {error}") from error
        self._screen = compare.Screen(question.home)
        self._is_copied = home(question.device) != question.device
        self.is_captured = False
        """Whether calls are launched as graphs of whole passes; both sides must be able to be."""
        self._bounds = {a["name"]: self._bound(a["name"], self._dtype(a)) for a in question.tensors("inout", "output")}

    @property
    def set_bytes(self) -> int:
        """What one call reads and writes at most: one set of inputs and of a side's outputs."""
        touched = self._inputs | next(iter(self._outputs.values()))
        return sum(arena.layout.nbytes for name, arena in touched.items() if name not in self._shared)

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for worker in (self._reference, *self._sides.values()):
            if worker.is_alive and kind is None:  # else a request may be outstanding, and the run ends
                with suppress(Failed):  # the worker's next request fails with the same words
                    worker.ask("release", self.question.call_s, binding=self.binding)
        for arenas in (self._inputs, self._expected, *self._outputs.values()):
            for arena in arenas.values():
                arena.close()

    def bind(self, side: str) -> None:
        """Has a side's worker map the memory and find its entry, where that has not been done. Raises Failed."""
        if side in self._has_bound:
            return
        entry = self.question.side(side)
        shared = [(a["name"], a["role"], self._inputs[a["name"]] if a["role"] == "input" else self._outputs[side][a["name"]]) for a in self.question.tensors()]
        arguments = [self.question.argument(name, self.case.dtypes) for name in entry["arguments"]]
        returns = [a["name"] for role in ("inout", "output") for a in self.question.tensors(role)]
        content: dict[str, Any] = {"dtypes": self.case.dtypes, "arguments": arguments, "returns": returns}
        content |= {"values": self.question.values(self.case), "module": self.question.module(self.case)}
        self._bind(self._sides[side], shared, content)
        self._has_bound.add(side)

    def bind_reference(self) -> None:
        shared = [(name, "input", arena) for name, arena in self._inputs.items()]
        shared += [(f"expected.{name}", "expected", arena) for name, arena in self._ordered(self._expected)]
        self._ask_reference(
            partial(self._bind, self._reference, shared, {"values": self.question.values(self.case), "module": self.question.module(self.case)})
        )

    def _bind(self, worker: Worker, shared: list[tuple[str, str, Arena]], content: dict[str, Any]) -> None:
        tensors = [{"name": name, "role": role, "layout": arena.layout.to_dict(), "writable": arena.is_writable} for name, role, arena in shared]
        descriptors = [arena.descriptor for _, _, arena in shared]
        worker.ask("bind", self.question.call_s, descriptors, binding=self.binding, sets=self.sets, tensors=tensors, **content)

    def fill(self, rng: random.Random, distribution: str = "declared", count: int = 1) -> None:
        """Puts fresh contents into the first `count` sets, the same for every side; what all sets share is filled once."""
        if self._shared and not self._has_shared:
            self._kept_shared = self.question.make_sets(self.case, self.shapes, rng, "declared", 1, self._generate, self._shared)
            for name, tensors in self._kept_shared.items():
                self._inputs[name].stack(1).copy_(tensors)
            self._has_shared = True
        changing = [name for name in self._inputs if name not in self._shared]
        self._kept = self.question.make_sets(self.case, self.shapes, rng, distribution, count, self._generate, changing)
        for name, tensors in self._kept.items():
            self._inputs[name].stack(count).copy_(tensors)
        self._expected_sets = 0

    def change(self, name: str, rng: random.Random) -> None:
        """Puts fresh contents into one tensor of the first set, and leaves the others as they are."""
        fresh = self.question.make_sets(self.case, self.shapes, rng, "declared", 1, self._generate, [name])[name]
        self._inputs[name].stack(1).copy_(fresh)
        self._expected_sets = 0
        (self._kept_shared if name in self._shared else self._kept)[name] = fresh
        for stale in self._stale.values():
            stale.add(name)

    def given(self) -> dict[str, torch.Tensor]:
        """Copies of the inputs and initial in-outs of the first set."""
        return {name: arena.tensor(0).clone() for name, arena in self._inputs.items()}

    def put(self, contents: Mapping[str, torch.Tensor]) -> None:
        """Gives inputs of the first set those contents."""
        for name, tensor in contents.items():
            self._inputs[name].tensor(0).copy_(tensor)
        self._expected_sets = 0

    def answers(self, side: str | None) -> list[torch.Tensor]:
        """Copies of the outputs of the first set: a side's, or the reference's."""
        arenas = self._expected if side is None else self._outputs[side]
        return [arena.tensor(0).clone() for _, arena in self._ordered(arenas)]

    def repeats(self, side: str, answers: Sequence[torch.Tensor]) -> bool:
        """Whether a side's outputs of the first set hold exactly the bytes of what `answers` gave before."""
        return all(arena.holds(answer[None]) for (_, arena), answer in zip(self._ordered(self._outputs[side]), answers, strict=True))

    def distance(self, count: int) -> float:
        """The largest relative L2 distance, over the first `count` sets, of the only output between the two sides; infinite where one is not finite."""
        one, other = (next(iter(self._outputs[side].values())).stack(count).flatten(1).to(torch.float64) for side in self._sides)
        found = float(((one - other).norm(dim=1) / other.norm(dim=1).clamp_min(1e-300)).max())
        return found if math.isfinite(found) else math.inf

    def poison(self, side: str, pattern: int, count: int = 1) -> None:
        """Makes a side's outputs unlike anything right, and gives it the initial contents of what it changes in place."""
        for name, arena in self._outputs[side].items():
            arena.poison(pattern, count)
            if name in self._inputs:
                arena.stack(count).copy_(self._kept[name][:count])
        if self._is_copied:
            kept = [name for name in self._shared if name not in self._stale[side]]
            self._sides[side].ask("fill", self.question.call_s, binding=self.binding, count=count, skip=kept)
            self._stale[side].clear()

    def prepare(self, side: str, count: int) -> None:
        """Takes out of the next pass over `count` sets what it would pay for once: first touching the memory, or uploading a captured graph.

        A graph is launched for that, so the contents must not be those that will be timed.
        """
        if count > self._touched[side]:
            self._sides[side].ask("touch", self.question.call_s, binding=self.binding, count=count)
            self._touched[side] = count
        if self.is_captured:
            self._capture(side, count)

    def can_be_captured(self, side: str) -> bool:
        """Whether the device launches captured graphs, and the side's calls do nothing but launch. Raises WorkerFailed."""
        try:
            if self.question.home == "cuda":
                self._capture(side, 1)
            return self.question.home == "cuda"
        except Answered:  # a call that cannot be made at all says so again when it is timed
            return False

    def _capture(self, side: str, count: int) -> None:
        self._settle()
        self._sides[side].ask("capture", 2 * (count + 2) * self.question.call_s, binding=self.binding, count=count)

    def call(self, side: str, count: int = 1) -> None:
        """One call of the side on each of the first `count` sets. Raises Answered and WorkerFailed."""
        self._settle()
        self._call(side, count)

    def timed_call(self, side: str, order: Sequence[int], pattern: int, *, is_woken: bool = True) -> float:
        """The seconds that one call on each of the first `len(order)` sets takes, in that order, by the judge's clock; on outputs poisoned with the pattern.

        To be prepared before its contents are there. Before a captured pass, whose order is the graph's, the side is woken, unless not to be: its contents
        are there by then, so that it could begin.
        """
        self.poison(side, pattern, len(order))
        self._settle()
        if self.is_captured and is_woken:
            self._sides[side].ask("wake", self.question.call_s, times=_WAKES)
        self._pass(side, order)
        return self._sides[side].took_s

    def stopped_call(self, side: str, order: Sequence[int], after_s: float, pattern: int) -> tuple[float | None, int, str | None]:
        """A pass that is stopped after some seconds and looked at, then goes on: what part of its work was done (None: it had ended before),
        how many calls had been made, and what one could not have done by then."""
        seen: list[tuple[int, str | None]] = []
        self.poison(side, pattern, len(order))
        self._settle()
        pause = Pause(after_s, lambda: seen.append(self._progress(side, order)))
        self._pass(side, order, pause)
        return (pause.part, *seen[0]) if seen else (None, len(order), None)

    def _progress(self, side: str, order: Sequence[int]) -> tuple[int, str | None]:
        """Calls are made one after another: whole answers, one that may be half done, and nothing behind it."""
        made = 0
        while made < len(order) and all(self._compare(side, name, order[made]).is_equal for name in self._outputs[side]):
            made += 1
        for name, arena in self._outputs[side].items():
            for at, index in enumerate(order[made + 1 :], made + 2):
                is_fresh = arena.holds(self._kept[name][index : index + 1], index) if name in self._inputs else arena.is_untouched(index)
                if not is_fresh and arena.layout.nbytes:
                    return made, f"`{name}` of call {at} was written to before call {made + 1} was done"
        return made, None

    def _pass(self, side: str, order: Sequence[int], pause: Pause | None = None) -> None:
        if not self.is_captured:
            self._sides[side].ask("order", self.question.call_s, binding=self.binding, order=list(order))
        self._call(side, len(order), pause, ordered=True)

    def _call(self, side: str, count: int, pause: Pause | None = None, *, ordered: bool = False) -> None:
        said: dict[str, Any] = {"binding": self.binding, "count": count, "graph": self.is_captured, "ordered": ordered}
        self._sides[side].ask("call", count * self.question.call_s, pause=pause, **said)

    def _settle(self) -> None:
        """What the judge put into a device's memory is there for all."""
        if self.question.home != "cpu":
            torch.cuda.synchronize()

    def collect(self, side: str, count: int) -> None:
        if self._is_copied:
            self._sides[side].ask("collect", self.question.call_s, binding=self.binding, count=count)

    def findings(self, side: str, index: int) -> list[Finding]:
        """Every output of one set against the reference, which is asked if it has not been for these contents."""
        return [Finding(name, self._compare(side, name, index)) for name, _ in self._ordered(self._outputs[side])]

    def first_wrong(self, side: str, count: int) -> str | None:
        """What is wrong in the first `count` sets, or None. Cheap where all is well, as timing asks it after each pass."""
        self.expect(count)
        for name, arena in self._ordered(self._outputs[side]):
            argument = self.question.tensor(name)
            suspects: Iterable[int] = range(count)
            if argument["count"] is None and argument["dtype"] != "bool":
                actual, expected, bound = arena.stack(count), self._expected[name].stack(count), self._bounds[name]
                if self._screen.accepts(actual, expected, bound):
                    continue
                suspects = _first_wrong(actual, expected, bound, argument["compare"] == "exact")
            for index in suspects:
                found = self._compare(side, name, index)
                if not found.is_equal:
                    return f"{name} {found.reason}"
        return None

    def expect(self, count: int) -> None:
        """Has the reference compute the first `count` sets; raises PackFault where it does not."""
        if count > self._expected_sets:
            self._settle()
            self._ask_reference(lambda: self._reference.ask("call", self.question.reference_s(count), binding=self.binding, count=count))
            self._expected_sets = count

    def damage(self, side: str, count: int = 1) -> str | None:
        """A write outside the outputs, or into an input, in words that continue "the candidate"."""
        for name, arena in self._outputs[side].items():
            if where := arena.slack_damage(count):
                return f"wrote outside of `{name}`, just {'before its start' if where == 'before' else 'past its end'}"
        shared = self._kept_shared if self.question.home != "cpu" else {}  # there it is sealed
        for name, kept in (*self._kept.items(), *shared.items()):
            if not self._inputs[name].holds(kept[:count]):
                return f"changed its input `{name}`"
        return None

    def _compare(self, side: str, name: str, index: int) -> compare.Comparison:
        arena = self._outputs[side][name]
        is_untouched = name not in self._inputs and arena.is_untouched(index)
        found, expected = arena.tensor(index), self._expected[name].tensor(index)
        # A copy, as the worker may still write. Copying bools as such would make any byte a 0 or 1.
        actual = _strict_bool(found.view(torch.uint8).clone(), expected) if found.dtype == torch.bool else found.clone()
        observed = self.judge_answer(name, actual, index)
        return replace(observed, reason="was never written") if is_untouched and not observed.is_equal else observed

    def judge_answer(self, name: str, actual: torch.Tensor, index: int = 0) -> compare.Comparison:
        """An answer for one output against the reference's, within the task's tolerance; the reference must have been asked."""
        argument, expected = self.question.tensor(name), self._expected[name].tensor(index)
        if argument["count"] is not None:
            rows = int(self._expected[argument["count"]].tensor(index))
            if not 0 <= rows <= (actual.shape[0] if actual.dim() else 0):
                raise PackFault(f"the reference counts {rows} rows of `{name}`, which holds {list(actual.shape)}")
            actual, expected = actual[:rows], expected[:rows]
        return compare.compare(actual, expected, self._bounds[name], argument["compare"] == "exact")

    def _ordered(self, arenas: Mapping[str, Arena]) -> list[tuple[str, Arena]]:
        """In-outs first, then outputs: the order in which references return them."""
        return [(a["name"], arenas[a["name"]]) for role in ("inout", "output") for a in self.question.tensors(role)]

    def _dtype(self, argument: dict[str, Any]) -> str:
        return self.question.dtype(argument, self.case)

    def _layout(self, argument: dict[str, Any], wide: bool = False) -> Layout:
        dtype = self._dtype(argument)
        if wide:
            dtype = "float64" if getattr(torch, dtype).is_floating_point else "int64"
        return lay_out(tuple(self.shapes[argument["name"]]), dtype, 1 if argument.get("shared") else self.sets, self.question.home)

    def _bound(self, name: str, dtype: str) -> tolerance.Bound:
        declared = self.question.plan["tolerance"].get(name, {})
        return tolerance.bound(dtype, self.question.reduction(self.case, name), declared.get("rtol"), declared.get("atol"), declared.get("roundings"))

    def _generate(self, values: dict[str, Any], names: list[str]) -> dict[str, torch.Tensor]:
        """Runs the pack's generator in the reference's process."""
        layouts = {name: lay_out(tuple(self.shapes[name]), self._dtype(self.question.tensor(name)), home=self.question.home) for name in names}
        arenas = {name: Arena(layout, is_writable=True) for name, layout in layouts.items()}
        entries = [{"name": name, "role": "output", "layout": arena.layout.to_dict(), "writable": True} for name, arena in arenas.items()]
        descriptors = [arena.descriptor for arena in arenas.values()]
        self._settle()
        self._ask_reference(lambda: self._reference.ask("generate", self.question.reference_s(1), descriptors, tensors=entries, values=values))
        made = {name: arena.tensor().clone() for name, arena in arenas.items()}
        for arena in arenas.values():
            arena.close()
        return made

    @staticmethod
    def _ask_reference(request: Callable[[], object]) -> None:
        try:
            request()
        except Failed as error:
            raise PackFault(f"the reference {error.reason}") from error


def _first_wrong(actual: torch.Tensor, expected: torch.Tensor, bound: tolerance.Bound, exact: bool) -> tuple[int, ...]:
    """The index of the first set that is not accepted, or none; some sets at a time, as comparing takes many times their memory."""
    together = max(1, _COMPARED_TOGETHER // max(1, math.prod(actual.shape[1:])))
    for start in range(0, len(actual), together):
        some = actual[start : start + together].clone()  # a copy, as the worker may still write
        first = compare.first_wrong(some, expected[start : start + together], bound, exact)
        if first is not None:
            return (start + first,)
    return ()


def _strict_bool(byte: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """A bool is the byte 0 or 1; any other byte counts as wrong."""
    return torch.where(byte > 1, expected == 0, byte == 1)
