"""Row softmax that reads each element once: whole rows in registers, several short rows a program; long rows in two passes."""

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
def softmax_in_registers(x, y, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    values = tl.load(x + row * cols + col, mask=inside, other=float("-inf")).to(tl.float32)
    top = tl.max(values, axis=1)[:, None]
    weights = tl.exp(values - tl.where(row < rows, top, 0.0))  # a row behind the last one is -inf throughout
    total = tl.sum(weights, axis=1)[:, None]
    scale = 1.0 / tl.where(row < rows, total, 1.0)
    tl.store(y + row * cols + col, (weights * scale).to(y.dtype.element_ty), mask=inside)


@triton.jit
def softmax_online(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row + at).to(tl.float32)  # a long row fills its first block
    top = values
    total = tl.full([BLOCK], 1.0, tl.float32)
    for first in range(BLOCK, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, values)
        total = total * tl.exp(top - higher) + tl.exp(values - higher)
        top = higher
    of_row = tl.max(top, axis=0)
    scale = 1.0 / tl.sum(total * tl.exp(top - of_row), axis=0)
    for first in range(0, cols, BLOCK):
        values = tl.load(x + row + first + at, mask=first + at < cols, other=float("-inf")).to(tl.float32)
        weights = tl.exp(values - of_row) * scale
        tl.store(y + row + first + at, weights.to(y.dtype.element_ty), mask=first + at < cols)


def softmax(x: torch.Tensor, y: torch.Tensor, rows: int, cols: int) -> None:
    """x [rows, cols] → y, the same shape."""
    if cols > LONGEST:
        softmax_online[(rows,)](x, y, cols, BLOCK=BLOCK, num_warps=8)
        return
    width = triton.next_power_of_2(cols)
    height = max(1, ELEMENTS // width // 2) if width <= ELEMENTS // 4 else 1
    warps = min(16, max(4, width * height // 1024))
    softmax_in_registers[(triton.cdiv(rows, height),)](x, y, rows, cols, ROWS=height, COLS=width, num_warps=warps)
