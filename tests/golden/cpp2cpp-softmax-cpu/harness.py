"""arena/cpp2cpp-softmax 0.1.0 for targets/cpu: cpp to cpp, native.

Compiled by taskpack; edit the pack, not this page. What is measured and how it is judged stands in plan.json beside it.
Task digest sha256:40ddedc8b1ef20b85fa7cfce6fb234137f20d0ec1ccc4e4deb6f80c457be3a9f
"""

import sys

from taskpack_runtime.expressions import sizeof
from taskpack_runtime.main import Harness, main


def shapes(*, rows, cols, T):
    return {
        "x": (rows, cols),
        "y": (rows, cols),
    }


def inits(*, rows, cols, T):
    return {
        "x": {"normal": {"mean": 0, "std": 3}},
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
        "bytes": 2 * rows * cols * sizeof(T),
        "flops": 5 * rows * cols,
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
