"""arena/torch2triton-segment-mean 0.1.0 for targets/h200: torch to triton, native.

Compiled by taskpack; edit the pack, not this page. What is measured and how it is judged stands in plan.json beside it.
Task digest sha256:acbef5e28aad36885f4456f9b75a819839d3fe275cec3b1981c6a7dd4ff366f2
"""

import sys

from taskpack_runtime.expressions import ceil_div, last, max_, sizeof
from taskpack_runtime.main import Harness, main


def shapes(*, tokens, cols, segments, T, weighted, gain):
    return {
        "x": (tokens, cols),
        "offsets": (segments + 1,),
        "starts": (segments + 1,),
        "slots": (segments,),
        "weight": (tokens,),
        "total": (segments, cols),
        "mean": (segments, cols),
    }


def inits(*, tokens, cols, segments, T, weighted, gain):
    return {
        "x": {"normal": {"mean": 0, "std": 3}},
        "offsets": {"partition": {"of": tokens}},
        "starts": {"derive": {}},
        "slots": {"permutation": {}},
        "weight": {"uniform": {"low": 0.5, "high": 1.5}},
        "total": {"constant": {"value": 1}},
    }


def derived(name, tensors, *, tokens, cols, segments, T, weighted, gain):
    if name == "starts":
        offsets = tensors["offsets"]
        return offsets * cols
    raise KeyError(name)


def constraints(*, tokens, cols, segments, T, weighted, gain):
    return (
        ("tokens >= segments", tokens >= segments),
        ("cols > 0", cols > 0),
    )


def invariants(tensors, *, tokens, cols, segments, T, weighted, gain):
    offsets = tensors["offsets"]
    slots = tensors["slots"]
    return (
        ("last(offsets) == tokens", last(offsets) == tokens),
        ("max(slots) < segments", max_(slots) < segments),
    )


def reductions(*, tokens, cols, segments, T, weighted, gain):
    return {
        "total": ceil_div(tokens, segments),
        "mean": ceil_div(tokens, segments),
    }


def cost(*, tokens, cols, segments, T, weighted, gain):
    return {
        "bytes": tokens * cols * sizeof(T) + 3 * segments * cols * sizeof(T),
        "flops": 2 * tokens * cols,
    }


HARNESS = Harness(
    __file__,
    shapes=shapes,
    inits=inits,
    constraints=constraints,
    invariants=invariants,
    reductions=reductions,
    cost=cost,
    derived=derived,
)

if __name__ == "__main__":
    sys.exit(main(HARNESS))
