"""RMS norm that reads each element once: whole rows in registers, several short rows a program."""

import torch
import triton
import triton.language as tl

LONGEST = 16384
"""Columns that a program keeps in registers."""
ELEMENTS = 4096
"""What a program with short rows aims at."""
BLOCK = 4096
"""Columns a step where a row is longer than LONGEST."""


@triton.jit
def norm_in_registers(x, weight, y, rows, cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    values = tl.load(x + row * cols + col, mask=inside, other=0.0).to(tl.float32)
    factors = tl.load(weight + col, mask=col < cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=1) / cols + eps)[:, None]
    tl.store(y + row * cols + col, (values * scale * factors).to(y.dtype.element_ty), mask=inside)


@triton.jit
def norm_long_row(x, weight, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        squares += values * values
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        factors = tl.load(weight + first + at, mask=first + at < cols, other=0.0).to(tl.float32)
        tl.store(y + row + first + at, (values * scale * factors).to(y.dtype.element_ty), mask=first + at < cols)


def rmsnorm(x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, rows: int, cols: int, eps: float) -> None:
    """x [rows, cols], weight [cols] → y [rows, cols]."""
    if cols > LONGEST:
        norm_long_row[(rows,)](x, weight, y, cols, eps, BLOCK=BLOCK, num_warps=8)
        return
    width = triton.next_power_of_2(cols)
    height = max(1, ELEMENTS // width // 2) if width <= ELEMENTS // 4 else 1
    warps = min(16, max(4, width * height // 1024))
    norm_in_registers[(triton.cdiv(rows, height),)](x, weight, y, rows, cols, eps, ROWS=height, COLS=width, num_warps=warps)
