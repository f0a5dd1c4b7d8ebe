import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, hidden_states):
        rows = []
        for row in hidden_states.reshape(-1, hidden_states.shape[-1]):
            wide = row.float()
            rows.append(self.weight * (wide * torch.rsqrt(wide.square().mean() + self.eps)).to(row.dtype))
        return torch.stack(rows).view_as(hidden_states)
