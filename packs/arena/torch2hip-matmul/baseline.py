"""Product of two matrices."""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """a [m, k], b [k, n] → c [m, n]."""
    torch.matmul(a, b, out=c)
