"""Matrix product, one program a tile of 32 x 32, in float32 accumulators."""

import torch
import triton
import triton.language as tl

TILE = 32


@triton.jit
def multiply(a, b, c, m, n, k, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)[:, None]
    col = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros([TILE, TILE], tl.float32)
    for first in range(0, k, TILE):
        across = first + tl.arange(0, TILE)[None, :]
        down = first + tl.arange(0, TILE)[:, None]
        left = tl.load(a + row * k + across, mask=(row < m) & (across < k), other=0.0)
        right = tl.load(b + down * n + col, mask=(down < k) & (col < n), other=0.0)
        total = tl.dot(left, right, acc=total, input_precision="ieee")  # the default, tf32, keeps 10 bits of float32's 23
    tl.store(c + row * n + col, total.to(c.dtype.element_ty), mask=(row < m) & (col < n))


def matmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, m: int, n: int, k: int) -> None:
    """a [m, k], b [k, n] → c [m, n]."""
    multiply[(triton.cdiv(m, TILE), triton.cdiv(n, TILE))](a, b, c, m, n, k, TILE=TILE)
