"""Facts of shape and device arithmetic: from a plan's cases and tensors, and from a target's limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..evaluation import UNKNOWN, NoValue, evaluate, read
from ..expressions import sizeof


def case_facts(plan: Mapping[str, Any]) -> dict[str, int]:
    """The facts of `vocabulary.CASES` of a plan (as its `to_dict` gives it); one that depends on something unknown is left out."""
    sizes = [size for case in plan["cases"] for size in _tensor_sizes(plan["arguments"], case["values"])]
    dtypes = [case["values"].get(a["dtype"], a["dtype"]) for case in plan["cases"] for a in plan["arguments"] if a["role"] in ("input", "inout", "output")]
    widths = [sizeof(dtype) for dtype in dtypes if "float" in dtype]
    known = {"largest_element_bytes": max(widths)} if widths else {}
    return {**known, "largest_tensor_elements": max(sizes)} if sizes and None not in sizes else known


def device_facts(limits: Mapping[str, int | float]) -> dict[str, int | float]:
    """A target's limits by the names that rules use: `max-threads-per-block` is `max_threads_per_block`."""
    return {name.replace("-", "_"): int(value) if float(value).is_integer() else value for name, value in limits.items()}


def _tensor_sizes(arguments: list[Mapping[str, Any]], values: Mapping[str, Any]) -> Iterator[Any]:
    """The number of elements of each tensor in one case; None where it cannot be known."""
    for argument in arguments:
        if argument["role"] in ("input", "inout", "output"):
            try:
                sizes = [evaluate(read(str(size)), values) for size in argument["shape"]]
            except NoValue:
                sizes = [UNKNOWN]
            yield None if UNKNOWN in sizes else math.prod(sizes)
