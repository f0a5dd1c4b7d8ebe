"""The logarithm of each row's softmax, in PyTorch."""

import torch


def {{ cookiecutter.symbol }}(x: torch.Tensor, y: torch.Tensor) -> None:
    """x [rows, cols] → y, the same shape."""
    shifted = x.float() - x.float().amax(dim=-1, keepdim=True)
    y.copy_(shifted - shifted.exp().sum(dim=-1, keepdim=True).log())
