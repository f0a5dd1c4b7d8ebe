from torch import nn
from torch.nn import functional


class DenseGelu(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, intermediate_size)

    def forward(self, hidden_states):
        return functional.gelu(self.dense(hidden_states))
