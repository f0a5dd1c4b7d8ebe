import torch
from torch import nn
from torch.nn import functional


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, hidden_states):
        return functional.rms_norm(hidden_states, self.weight.shape, self.weight, self.eps)
