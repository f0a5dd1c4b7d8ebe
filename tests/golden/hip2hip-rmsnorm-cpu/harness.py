"""arena/hip2hip-rmsnorm 0.1.0 for targets/cpu: hip to hip, emulated.

Compiled by taskpack; edit the pack, not this page. What is measured and how it is judged stands in plan.json beside it.
Task digest sha256:ceaf252ab6c963eb107f5f1f5bf65534b5951cd8fc342668bdc82cf70e94069f
"""

import sys

from taskpack_runtime.expressions import sizeof
from taskpack_runtime.main import Harness, main


def shapes(*, rows, cols, T, eps):
    return {
        "x": (rows, cols),
        "weight": (cols,),
        "y": (rows, cols),
    }


def inits(*, rows, cols, T, eps):
    return {
        "x": {"normal": {"mean": 0, "std": 1.5}},
        "weight": {"normal": {"mean": 1, "std": 0.25}},
    }


def derived(name, tensors, *, rows, cols, T, eps):
    raise KeyError(name)


def constraints(*, rows, cols, T, eps):
    return (
        ("rows > 0", rows > 0),
        ("cols > 0", cols > 0),
        ("eps > 0", eps > 0),
    )


def invariants(tensors, *, rows, cols, T, eps):
    return ()


def reductions(*, rows, cols, T, eps):
    return {
        "y": cols,
    }


def cost(*, rows, cols, T, eps):
    return {
        "bytes": (2 * rows * cols + cols) * sizeof(T),
        "flops": 4 * rows * cols,
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
