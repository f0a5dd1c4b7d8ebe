"""RMS norm, one program a row, in two passes over blocks of columns."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def norm_rows(x, weight, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        squares += values * values
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        factors = tl.load(weight + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        tl.store(y + row + first + at, (values * scale * factors).to(y.dtype.element_ty), mask=first + at < cols)


def rmsnorm(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, rows: int, cols: int, eps: float) -> None:
    """x [rows, cols], weight [cols] → y [rows, cols]."""
    norm_rows[(rows,)](x, weight, y, cols, eps, BLOCK=BLOCK)
