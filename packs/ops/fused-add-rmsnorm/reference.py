"""Residual addition, then root-mean-square normalisation of the sum."""

import torch


def fused_add_rmsnorm(x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """x, residual [rows, cols], weight [cols] → the new residual and y, both [rows, cols]."""
    total = residual + x
    mean_square = total.square().mean(dim=-1, keepdim=True)
    return total, total * torch.rsqrt(mean_square + eps) * weight
