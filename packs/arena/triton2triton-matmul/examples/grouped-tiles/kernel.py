"""Matrix product in large tiles, visited in groups of rows so that programs near in time share operands in the L2 cache."""

import torch
import triton
import triton.language as tl

GROUP = 8
"""Rows of tiles that are walked together, column by column."""


@triton.jit
def multiply(a, b, c, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    program = tl.program_id(0)
    high, wide = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    group = program // (GROUP * wide)
    height = min(high - group * GROUP, GROUP)
    within = program % (GROUP * wide)
    tile_row = group * GROUP + within % height
    tile_col = within // height

    row = tile_row.to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tile_col.to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    across = tl.arange(0, DEPTH)[None, :]
    down = tl.arange(0, DEPTH)[:, None]
    # Rows and columns behind the edge wrap round, so that only the last step along k needs a mask.
    left = a + (row % m) * k + across
    right = b + down.to(tl.int64) * n + col % n
    total = tl.zeros([ROWS, COLS], tl.float32)
    for first in range(0, k, DEPTH):
        some_left = tl.load(left, mask=across < k - first, other=0.0)
        some_right = tl.load(right, mask=down < k - first, other=0.0)
        total = tl.dot(some_left, some_right, acc=total, input_precision="ieee")
        left += DEPTH
        right += DEPTH * n
    tl.store(c + row * n + col, total.to(c.dtype.element_ty), mask=(row < m) & (col < n))


def matmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, m: int, n: int, k: int) -> None:
    """a [m, k], b [k, n] → c [m, n]."""
    if a.dtype == torch.float32:
        rows, cols, depth, warps = 64, 64, 16, 4
    elif m <= 32:
        rows, cols, depth, warps = 16, 64, 128, 4
    elif m * n <= 2048 * 2048:
        rows, cols, depth, warps = 64, 128, 64, 4
    else:
        rows, cols, depth, warps = 128, 128, 64, 8
    programs = triton.cdiv(m, rows) * triton.cdiv(n, cols)
    multiply[(programs,)](a, b, c, m, n, k, ROWS=rows, COLS=cols, DEPTH=depth, GROUP=GROUP, num_warps=warps, num_stages=3)
