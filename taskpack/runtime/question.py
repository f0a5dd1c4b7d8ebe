"""What the harness asks: the plan and the op's expressions, evaluated for one case at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, cast

import torch

from . import draw, inputs, memory

Shapes = dict[str, tuple[int, ...]]
Generate = Callable[[dict[str, Any], list[str]], dict[str, torch.Tensor]]
"""Runs the pack's generator: takes what it may name and the inputs that it makes."""

_ELEMENTWISE = frozenset({"normal", "uniform", "constant", "index", "mask"})
"""Inits whose elements know nothing of each other, so that many sets can be drawn at once."""


class Expressions(Protocol):
    """The functions of a `harness.py`; each takes every dim, dtype variable, flag and scalar by keyword."""

    @property
    def shapes(self) -> Callable[..., dict[str, tuple[Any, ...]]]: ...
    @property
    def inits(self) -> Callable[..., dict[str, Any]]: ...
    @property
    def constraints(self) -> Callable[..., tuple[tuple[str, bool], ...]]: ...
    @property
    def invariants(self) -> Callable[..., tuple[tuple[str, bool], ...]]: ...
    @property
    def reductions(self) -> Callable[..., dict[str, Any]]: ...
    @property
    def cost(self) -> Callable[..., dict[str, Any]]: ...
    @property
    def derived(self) -> Callable[..., Any]: ...
    @property
    def arguments(self) -> Callable[..., dict[str, Any]]: ...


class Unusable(Exception):
    """The call asks for what cannot be done."""


class PackFault(Exception):
    """The pack itself does not hold: its reference raises, its invariant breaks, its declaration cannot be met. Not the candidate's failure."""


@dataclass(frozen=True)
class Case:
    """One configuration: seen, or drawn."""

    id: str
    values: dict[str, Any]
    dtypes: dict[str, str]
    """Those of the values that are dtype variables."""
    is_unseen: bool = False
    is_timed: bool = False

    @property
    def words(self) -> str:
        """`rows 7, cols 33, float32`."""
        shown = [str(value) if name in self.dtypes else f"{name} {value}" for name, value in self.values.items() if value is not False]
        return f"`{self.id}` ({', '.join(shown)})" if shown else f"`{self.id}`"


@dataclass(frozen=True)
class Question:
    """The plan with the functions that evaluate it. `folder` holds the reference's files."""

    plan: dict[str, Any]
    expressions: Expressions
    folder: Path
    scale: str | None = None
    """Where only cases of one scale are asked."""

    @property
    def device(self) -> str:
        return str(self.plan["target"]["device"])

    @property
    def home(self) -> str:
        """The device whose memory judge and workers share."""
        return memory.home(self.device)

    @property
    def warp_size(self) -> int:
        return int(self.plan["target"]["limits"].get("warp-size", 32))

    @property
    def call_s(self) -> float:
        return float(self.plan["limits"]["call_s"])

    def reference_s(self, count: int) -> float:
        """The reference gets more time than a candidate, in proportion to what is asked."""
        return 4 * self.call_s + 0.5 * count

    def side(self, name: str) -> dict[str, Any]:
        """ "baseline" or "candidate"."""
        return dict(self.plan[name])

    def tensors(self, *roles: str) -> list[dict[str, Any]]:
        """The plan's tensor arguments with one of the roles (all, when none is named), in declaration order."""
        return [a for a in self.plan["arguments"] if a["role"] in (roles or ("input", "inout", "output"))]

    def tensor(self, name: str) -> dict[str, Any]:
        return next(a for a in self.tensors() if a["name"] == name)

    def argument(self, name: str, dtypes: Mapping[str, str]) -> dict[str, str]:
        """An entry's argument as `contract.Argument`'s fields."""
        if name == "stream":
            return {"name": name, "role": "stream", "dtype": ""}
        found = next(a for a in self.plan["arguments"] if a["name"] == name)
        fixed = {"dim": "int64", "flag": "int32"}.get(found["role"])
        return {"name": name, "role": found["role"], "dtype": fixed or dtypes.get(found["dtype"], found["dtype"])}

    @staticmethod
    def dtype(argument: Mapping[str, Any], case: Case) -> str:
        """The argument's dtype in a case, as a name of torch's."""
        return str(case.dtypes.get(argument["dtype"], argument["dtype"]))

    def case(self, case_id: str, values: Mapping[str, Any], *, is_unseen: bool = False, is_timed: bool = False) -> Case:
        names = [name for kind in ("dims", "dtypes", "flags", "scalars") for name in self.plan["names"][kind]]
        ordered = {name: values[name] for name in names}
        return Case(case_id, ordered, {name: values[name] for name in self.plan["names"]["dtypes"]}, is_unseen, is_timed)

    def seen_cases(self) -> list[Case]:
        """The plan's cases of the scale that this device is asked."""
        return [self.case(c["id"], c["values"], is_timed=c["timed"]) for c in self.plan["cases"] if self._is_asked(c["scale"])]

    def draw_cases(self, rng: random.Random) -> list[Case]:
        """Every unseen case that this device is asked, in random order; raises PackFault where a table allows none."""
        drawn: list[Case] = []
        for table in self.plan["unseen"]:
            for number in range(table["count"] if self._is_asked(table["scale"]) else 0):
                try:
                    values = draw.draw_values(table, self.plan["names"], rng, self.expressions.constraints)
                except (draw.DrawFailed, ValueError) as error:
                    raise PackFault(str(error)) from error
                drawn.append(self.case(f"{table['id']}.{number + 1}", values, is_unseen=True))
        rng.shuffle(drawn)
        return drawn

    def _is_asked(self, scale: str) -> bool:
        return (self.device != "cpu" or scale == "small") and self.scale in (None, scale)

    def shapes(self, case: Case) -> Shapes:
        return {name: tuple(int(size) for size in shape) for name, shape in self.expressions.shapes(**case.values).items()}

    def values(self, case: Case) -> dict[str, Any]:
        """Dims, dtypes, flags and scalars by name, in the types in which entries and references take them."""
        kinds = {a["name"]: a for a in self.plan["arguments"]}
        return {name: _typed(value, kinds.get(name)) for name, value in case.values.items()}

    def reduction(self, case: Case, output: str) -> float:
        return float(self.expressions.reductions(**case.values).get(output, 1.0))

    def module(self, case: Case) -> dict[str, Any] | None:
        """How a worker constructs and calls the module, where the interface is one."""
        declared = self.plan.get("module")
        if declared is None:
            return None
        arguments = self.expressions.arguments(**case.values)
        model = self.plan.get("model")
        said = {"inputs": declared["inputs"], "state": declared["state"], "precision": declared["precision"]}
        return {"arguments": arguments, **said, "output": model["output"] if model else None, "is_model": model is not None}

    def with_state(self, state: Mapping[str, Any], case: Case) -> Question:
        """The question with a model's `state` (key → [shape, dtype]) among its inputs, drawn once by the plan's rules; raises PackFault without one."""
        (output,) = self.tensors("output")
        floating = output["dtype"]
        added, inits = [], {}
        for name, (_, dtype) in state.items():
            rule = next((rule for rule in self.plan["model"]["state"] if fnmatchcase(name, rule["match"])), None)
            if rule is None or not getattr(torch, dtype).is_floating_point:
                raise PackFault(f"{case.words}: no rule of the pack's draws `{name}` ({dtype})")
            inits[name] = rule["init"]
            added.append({"name": name, "role": "input", "dtype": floating, "edges": [], "count": None, "compare": "close", "shared": True})
        plan = {**self.plan, "arguments": [*self.plan["arguments"], *added], "module": {**self.plan["module"], "state": list(state)}}
        base, shapes = self.expressions, {name: tuple(shape) for name, (shape, _) in state.items()}
        widened = SimpleNamespace(
            shapes=lambda **values: {**base.shapes(**values), **shapes},
            inits=lambda **values: {**base.inits(**values), **inits},
            constraints=base.constraints,
            invariants=base.invariants,
            reductions=base.reductions,
            cost=base.cost,
            derived=base.derived,
            arguments=base.arguments,
        )
        return replace(self, plan=plan, expressions=cast(Expressions, widened))

    def make_sets(
        self, case: Case, shapes: Shapes, rng: random.Random, distribution: str, count: int, generate: Generate, names: Collection[str]
    ) -> dict[str, torch.Tensor]:
        """`count` sets of the named inputs and in-outs as tensors of shape [count, …] at home, the same for the same state of `rng`; raises PackFault."""
        inits = {name: init for name, init in self.expressions.inits(**case.values).items() if name in names}
        if count > 1 and all(_ELEMENTWISE.issuperset(init) for init in inits.values()):
            stacked = {name: (count, *shape) for name, shape in shapes.items()}
            return self._make_inputs(case, stacked, inits, rng.getrandbits(62), distribution, generate)
        sets = [self._make_inputs(case, shapes, inits, rng.getrandbits(62), distribution, generate) for _ in range(count)]
        return {name: torch.stack([one[name] for one in sets]) for name in (sets[0] if sets else ())}

    def _make_inputs(self, case: Case, shapes: Shapes, inits: dict[str, Any], seed: int, distribution: str, generate: Generate) -> dict[str, torch.Tensor]:
        wanted = [name for name, init in inits.items() if "generator" in init]
        given = generate({**self.values(case), "seed": seed}, wanted) if wanted else None

        def derived(name: str, known: dict[str, Any]) -> Any:
            return self.expressions.derived(name, known, **case.values)

        arguments = [a for a in self.plan["arguments"] if a["name"] in inits]
        try:
            made = inputs.make_inputs(arguments, shapes, inits, case.dtypes, case.values, seed, distribution, derived, self.folder, given, self.home)
        except ValueError as error:
            raise PackFault(f"{case.words}: {error}") from error
        every = {a["name"] for a in self.tensors("input", "inout") if not a.get("shared")}
        for text, holds in self.expressions.invariants(made, **case.values) if every <= set(made) else ():
            if not holds:
                raise PackFault(f"the invariant `{text}` does not hold for {case.words}")
        return made


def _typed(value: Any, argument: dict[str, Any] | None) -> Any:
    if argument is None or argument["role"] == "dim":
        return value
    if argument["role"] == "flag" or argument["dtype"] == "bool":
        return bool(value)
    return float(value) if argument["dtype"].startswith("float") else int(value)
