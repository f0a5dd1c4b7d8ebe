"""Unseen cases, drawn from a pack's tables with the judge's secret generator."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

_TRIES = 1000


class DrawFailed(Exception):
    """No draw of a table satisfied the constraints; names those that failed, most often first."""


def draw_values(
    table: dict[str, Any], names: dict[str, list[str]], rng: random.Random, constraints: Callable[..., Iterable[tuple[str, bool]]]
) -> dict[str, Any]:
    """One case of `table` (an entry of the plan's `unseen`): a value for each of the plan's `names`, flags that it leaves out being False.

    A draw that breaks a constraint is thrown away and drawn again, so that values stay uniform among the allowed ones.
    Raises DrawFailed after 1000 tries, and ValueError for a table that lacks a name or holds an empty range. The same generator state gives the same case.
    """
    draws = table["draws"]
    wanted = [name for kind in ("dims", "dtypes", "flags", "scalars") for name in names.get(kind, ())]
    absent = [name for name in wanted if name not in draws and name not in names.get("flags", ())]
    if absent:
        raise ValueError(f"`{table['id']}` gives no value for {', '.join(f'`{name}`' for name in absent)}")
    broken: Counter[str] = Counter()
    for _ in range(_TRIES):
        values = {name: _draw(draws.get(name, False), rng) for name in wanted}
        failed = [text for text, holds in constraints(**values) if not holds]
        if not failed:
            return values
        broken.update(failed)
    often = ", ".join(f"`{text}` ({count})" for text, count in broken.most_common(3))
    raise DrawFailed(f"`{table['id']}`: none of {_TRIES} draws satisfied the constraints; broken most often: {often}")


def _draw(rule: object, rng: random.Random) -> object:
    if not isinstance(rule, dict):
        return rule
    if "choice" in rule:
        return rng.choice(rule["choice"])
    low, high = rule["range"]
    if isinstance(low, float) or isinstance(high, float):
        return math.exp(rng.uniform(math.log(low), math.log(high))) if rule.get("log") else rng.uniform(low, high)
    return _draw_integer(low, high, rule, rng)


def _draw_integer(low: int, high: int, rule: dict[str, Any], rng: random.Random) -> int:
    step, never = rule.get("multiple-of", 1), rule.get("not-multiple-of")
    least, most = -(-low // step), high // step
    if least > most:
        raise ValueError(f"no multiple of {step} lies in [{low}, {high}]")
    for _ in range(_TRIES):
        if rule.get("log"):
            drawn = round(math.exp(rng.uniform(math.log(max(least, 0.5)), math.log(most + 0.5))))
            value: int = min(max(drawn, least), most) * step
        else:
            value = rng.randint(least, most) * step
        if never is None or value % never:
            return value
    raise ValueError(f"every multiple of {step} in [{low}, {high}] is a multiple of {never}")
