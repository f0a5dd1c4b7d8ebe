import torch
from torch import nn
from torch.nn import functional


class ChannelNorm(nn.Module):
    def __init__(self, normalized_shape, *, eps=1e-6, data_format="channels_last", **kwargs):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape, **kwargs))
        self.bias = nn.Parameter(torch.zeros(normalized_shape, **kwargs))
        self.eps = eps
        self.axis = {"channels_first": 1, "channels_last": -1}[data_format]

    def forward(self, features):
        scaled = functional.layer_norm(features.movedim(self.axis, -1), self.weight.shape, self.weight, self.bias, 1e-12)
        return scaled.movedim(-1, self.axis)
