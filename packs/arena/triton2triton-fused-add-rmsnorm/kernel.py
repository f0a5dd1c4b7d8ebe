"""Residual addition and RMS norm, one program a row, in two passes over blocks of columns."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add_and_norm_rows(x, residual, weight, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        inside = first + at < cols
        total = tl.load(x + row + first + at, mask=inside, other=0.0).to(tl.float32)
        total += tl.load(residual + row + first + at, mask=inside, other=0.0).to(tl.float32)
        squares += total * total
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    # Adds once more instead of reading back the residual, which other threads of the program may have written.
    for first in range(0, cols, BLOCK):
        inside = first + at < cols
        total = tl.load(x + row + first + at, mask=inside, other=0.0).to(tl.float32)
        total += tl.load(residual + row + first + at, mask=inside, other=0.0).to(tl.float32)
        factors = tl.load(weight + first + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(residual + row + first + at, total.to(residual.dtype.element_ty), mask=inside)
        tl.store(y + row + first + at, (total * scale * factors).to(y.dtype.element_ty), mask=inside)


def fused_add_rmsnorm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, rows: int, cols: int, eps: float) -> None:
    """x [rows, cols], weight [cols], residual [rows, cols], which is overwritten with the sum → y [rows, cols]."""
    add_and_norm_rows[(rows,)](x, residual, weight, y, cols, eps, BLOCK=BLOCK)
