"""arena/triton2triton-reduce-sum 0.1.0 for targets/cpu: triton to triton, interpreted.

Compiled by taskpack; edit the pack, not this page. What is measured and how it is judged stands in plan.json beside it.
Task digest sha256:094b951e8754be09f2fbc8c5ebc039f45650e2da7348eca7d9cd47dc05239fda
"""

import sys

from taskpack_runtime.expressions import sizeof
from taskpack_runtime.main import Harness, main


def shapes(*, rows, cols, T):
    return {
        "x": (rows, cols),
        "y": (rows,),
    }


def inits(*, rows, cols, T):
    return {
        "x": {"normal": {"mean": 0.25, "std": 1}},
    }


def derived(name, tensors, *, rows, cols, T):
    raise KeyError(name)


def constraints(*, rows, cols, T):
    return (
        ("rows > 0", rows > 0),
        ("cols > 0", cols > 0),
    )


def invariants(tensors, *, rows, cols, T):
    return ()


def reductions(*, rows, cols, T):
    return {
        "y": cols,
    }


def cost(*, rows, cols, T):
    return {
        "bytes": rows * (cols + 1) * sizeof(T),
        "flops": rows * cols,
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
