"""The logarithm of each row's softmax, one program a row, in three passes over blocks of columns."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def log_softmax_rows(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    largest = tl.full([BLOCK], float("-inf"), tl.float32)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=float("-inf")).to(tl.float32)
        largest = tl.maximum(largest, values)
    top = tl.max(largest, axis=0)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=float("-inf")).to(tl.float32)
        total += tl.exp(values - top)
    log_sum = tl.log(tl.sum(total, axis=0))
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        tl.store(y + row + first + at, (values - top - log_sum).to(y.dtype.element_ty), mask=first + at < cols)


def {{ cookiecutter.symbol }}(x: torch.Tensor, y: torch.Tensor, rows: int, cols: int) -> None:
    """x [rows, cols] → y, the same shape."""
    log_softmax_rows[(rows,)](x, y, cols, BLOCK=BLOCK)
