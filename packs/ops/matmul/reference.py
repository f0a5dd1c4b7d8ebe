"""Product of two matrices."""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [m, k], b [k, n] → c [m, n]."""
    return a @ b
