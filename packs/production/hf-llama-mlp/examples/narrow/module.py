from torch import nn
from torch.nn import functional


class GatedMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=config.mlp_bias)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=config.mlp_bias)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.mlp_bias)

    def forward(self, x):
        gate, up = (functional.linear(x.bfloat16(), one.weight.bfloat16()) for one in (self.gate_proj, self.up_proj))
        return functional.linear(functional.silu(gate) * up, self.down_proj.weight.bfloat16()).to(x.dtype)
