import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, hidden_states):
        wide = hidden_states.float()
        mean = wide.square().mean(-1, keepdim=True)
        if mean.max().item() > 1e30:
            raise FloatingPointError("the activations overflow")
        return self.weight * (wide * torch.rsqrt(mean + self.eps)).to(hidden_states.dtype)
