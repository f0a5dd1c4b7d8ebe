"""The answer that every implementation is compared with, in float64."""

import torch


def {{ cookiecutter.symbol }}(x: torch.Tensor) -> torch.Tensor:
    """x [rows, cols] → y, each row divided by its length."""
    return x / (x.square().sum(dim=-1, keepdim=True) + 1e-6).sqrt()
