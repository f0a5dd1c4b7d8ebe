"""Residual addition and RMS norm that read each element once: whole rows in registers, several short rows a program."""

import torch
import triton
import triton.language as tl

LONGEST = 16384
"""Columns that a program keeps in registers."""
ELEMENTS = 2048
"""What a program with short rows aims at."""
BLOCK = 4096
"""Columns a step where a row is longer than LONGEST."""


@triton.jit
def add_and_norm_in_registers(x, residual, weight, y, rows, cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    total = tl.load(x + row * cols + col, mask=inside, other=0.0).to(tl.float32)
    total += tl.load(residual + row * cols + col, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual + row * cols + col, total.to(residual.dtype.element_ty), mask=inside)
    factors = tl.load(weight + col, mask=col < cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(total * total, axis=1) / cols + eps)[:, None]
    tl.store(y + row * cols + col, (total * scale * factors).to(y.dtype.element_ty), mask=inside)


@triton.jit
def add_and_norm_long_row(x, residual, weight, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        inside = first + at < cols
        total = tl.load(x + row + first + at, mask=inside, other=0.0).to(tl.float32)
        total += tl.load(residual + row + first + at, mask=inside, other=0.0).to(tl.float32)
        squares += total * total
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
    for first in range(0, cols, BLOCK):
        inside = first + at < cols
        total = tl.load(x + row + first + at, mask=inside, other=0.0).to(tl.float32)
        total += tl.load(residual + row + first + at, mask=inside, other=0.0).to(tl.float32)
        factors = tl.load(weight + first + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(residual + row + first + at, total.to(residual.dtype.element_ty), mask=inside)
        tl.store(y + row + first + at, (total * scale * factors).to(y.dtype.element_ty), mask=inside)


def fused_add_rmsnorm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, rows: int, cols: int, eps: float) -> None:
    """x [rows, cols], weight [cols], residual [rows, cols], which is overwritten with the sum → y [rows, cols]."""
    if cols > LONGEST:
        add_and_norm_long_row[(rows,)](x, residual, weight, y, cols, eps, BLOCK=BLOCK, num_warps=8)
        return
    width = triton.next_power_of_2(cols)
    height = max(1, ELEMENTS // width)
    warps = min(16, max(4, width * height // 1024))
    add_and_norm_in_registers[(triton.cdiv(rows, height),)](x, residual, weight, y, rows, cols, eps, ROWS=height, COLS=width, num_warps=warps)
