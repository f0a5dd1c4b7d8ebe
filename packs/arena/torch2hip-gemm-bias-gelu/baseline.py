"""Linear layer with bias, then exact GELU: two operations."""

import torch


def gemm_bias_gelu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """x [m, k], weight [n, k], bias [n] → [m, n]."""
    return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias))
