"""Softmax along the last axis."""

import torch


def softmax(x: torch.Tensor) -> torch.Tensor:
    """x [rows, cols] → y [rows, cols]."""
    shifted = x - x.amax(dim=-1, keepdim=True)
    weights = shifted.exp()
    return weights / weights.sum(dim=-1, keepdim=True)
