"""arena/torch2hip-matmul 0.1.0 for targets/cpu: torch to hip, emulated.

Compiled by taskpack; edit the pack, not this page. What is measured and how it is judged stands in plan.json beside it.
Task digest sha256:def59c4cfbbcb66bfa480a5ac88c8e7bc8bd4af7dbeade45da41c53b57ef810a
"""

import sys

from taskpack_runtime.expressions import sizeof
from taskpack_runtime.main import Harness, main


def shapes(*, m, k, n, T):
    return {
        "a": (m, k),
        "b": (k, n),
        "c": (m, n),
    }


def inits(*, m, k, n, T):
    return {
        "a": {"normal": {"mean": 0, "std": 1}},
        "b": {"normal": {"mean": 0, "std": 1}},
    }


def derived(name, tensors, *, m, k, n, T):
    raise KeyError(name)


def constraints(*, m, k, n, T):
    return (
        ("m > 0", m > 0),
        ("n > 0", n > 0),
        ("k > 0", k > 0),
    )


def invariants(tensors, *, m, k, n, T):
    return ()


def reductions(*, m, k, n, T):
    return {
        "c": k,
    }


def cost(*, m, k, n, T):
    return {
        "bytes": (m * k + k * n + m * n) * sizeof(T),
        "flops": 2 * m * n * k,
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
