"""Linear layer with bias and exact GELU in large tiles, visited in groups of rows so that programs near in time share operands in the L2 cache."""

import torch
import triton
import triton.language as tl

GROUP = 8
"""Rows of tiles that are walked together, column by column."""


@triton.jit
def multiply_and_activate(x, weight, bias, y, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
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
    left = x + (row % m) * k + across
    right = weight + (col % n) * k + down
    z = tl.zeros([ROWS, COLS], tl.float32)
    for first in range(0, k, DEPTH):
        some_left = tl.load(left, mask=across < k - first, other=0.0)
        some_right = tl.load(right, mask=down < k - first, other=0.0)
        z = tl.dot(some_left, some_right, acc=z, input_precision="ieee")
        left += DEPTH
        right += DEPTH
    z += tl.load(bias + col, mask=col < n, other=0.0).to(tl.float32)
    gelu = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))
    tl.store(y + row * n + col, gelu.to(y.dtype.element_ty), mask=(row < m) & (col < n))


def gemm_bias_gelu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, y: torch.Tensor, m: int, n: int, k: int) -> None:
    """x [m, k], weight [n, k], bias [n] → y [m, n]."""
    if x.dtype == torch.float32:
        rows, cols, depth, warps = 64, 64, 16, 4
    elif m <= 32:
        rows, cols, depth, warps = 16, 64, 128, 4
    elif m * n <= 2048 * 2048:
        rows, cols, depth, warps = 64, 128, 64, 4
    else:
        rows, cols, depth, warps = 128, 128, 64, 8
    programs = triton.cdiv(m, rows) * triton.cdiv(n, cols)
    multiply_and_activate[(programs,)](x, weight, bias, y, m, n, k, ROWS=rows, COLS=cols, DEPTH=depth, GROUP=GROUP, num_warps=warps, num_stages=3)
