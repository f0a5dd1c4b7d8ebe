from torch import nn
from torch.nn import functional


class DenseGelu(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)

    def forward(self, hidden_states):
        return functional.gelu(self.dense(hidden_states))
