"""Row sums, one program a row, block after block of columns."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def sum_rows(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        total += tl.load(x + row * cols + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
    tl.store(y + row, tl.sum(total, axis=0).to(y.dtype.element_ty))


def reduce_sum(x: torch.Tensor, y: torch.Tensor, rows: int, cols: int) -> None:
    """x [rows, cols] → y [rows]."""
    sum_rows[(rows,)](x, y, cols, BLOCK=BLOCK)
