"""Residual addition and root-mean-square normalisation as model code writes them: one operation after another, in float32."""

import torch


def fused_add_rmsnorm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, eps: float) -> None:
    """x [rows, cols], weight [cols], residual [rows, cols], which is overwritten with the sum → y [rows, cols]."""
    total = x.float() + residual.float()
    residual.copy_(total)
    scale = torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + eps)
    y.copy_(total * scale * weight.float())
