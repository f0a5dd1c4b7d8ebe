"""A library made for tests: a layer, a model of two of them, and how it is installed; and the packs about both."""

from pathlib import Path

LIBRARY = '''
"""A library of one layer."""
import torch
from torch import nn


class Config:
    def __init__(self, width, kind="plain"):
        self.width, self.kind = width, kind


class Affine(nn.Module):
    """Scales and shifts rows."""

    def __init__(self, config, *, gain=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(config.width))
        self.shift = nn.Parameter(torch.zeros(config.width))
        self.gain = gain

    def forward(self, x):
        return x * self.scale * self.gain + self.shift


class Answer:
    def __init__(self, logits):
        self.logits = logits


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.first = nn.Linear(config.width, config.width)
        self.norm = Affine(config, gain=0.5)
        self.last = nn.Linear(config.width, config.width, bias=False)
        self.head = Affine(config)

    def forward(self, x, mask=None):
        return Answer(self.head(self.last(torch.tanh(self.norm(self.first(x))))))
'''

PACK = """
format = 1

[pack]
kind = "task"
name = "local/module2torch-affine"
version = "0.1.0"
summary = "A library's affine map of rows"
license = "Apache-2.0"

[task.candidate]
language = "torch"
files = ["module.py"]
entry = "Mine"

[op]

[op.module]
provider = "toy-layers"
target = "toy_layers.affine:Affine"
requires = "^1.2"
fingerprint = "FINGERPRINT"
constructor = "(config, *, gain=1.0)"
forward = "(x)"

[op.module.arguments]
gain = "gain"
config = { target = "toy_layers.affine:Config", fields = { width = "cols", kind = "'plain'" } }

[op.dims]
rows = "number of rows"
cols = "row length"

[op.dtypes]
T = ["float32"]

[[op.input]]
name = "x"
shape = ["rows", "cols"]
dtype = "T"
init = { normal = { std = 3.0 } }

[[op.state]]
name = "scale"
shape = ["cols"]
dtype = "T"
init = { normal = { mean = 1.0, std = 0.25 } }

[[op.state]]
name = "shift"
shape = ["cols"]
dtype = "T"
init = { normal = { std = 0.25 } }

[[op.output]]
name = "y"
shape = ["rows", "cols"]
dtype = "T"

[[op.scalar]]
name = "gain"
dtype = "float64"
value = 1.5

[[op.case]]
id = "square"
scale = "small"
rows = 64
cols = 64
T = "float32"

[[op.unseen]]
scale = "small"
rows = { range = [1, 100] }
cols = { choice = [1, 7, 33] }
T = "float32"
gain = { choice = [1.0, 0.5] }
"""

MINE = """
import torch
from torch import nn


class Mine(nn.Module):
    def __init__(self, config, *, gain=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(config.width))
        self.shift = nn.Parameter(torch.zeros(config.width))
        self.gain = gain

    def forward(self, x):
        return torch.addcmul(self.shift, x, self.scale, value=self.gain)
"""

MODEL = """
format = 1

[pack]
kind = "model"
name = "local/net"
version = "0.1.0"
summary = "A library's model of two layers"
license = "Apache-2.0"

[pack.dependencies]
"local/module2torch-affine" = "^0.1"

[model]
category = "language"
output = "logits"

[[model.replace]]
task = "local/module2torch-affine"

[[model.state]]
match = "*scale"
init = { normal = { mean = 1.0, std = 0.2 } }

[[model.state]]
match = "*"
init = { normal = { std = 0.2 } }

[op]

[op.module]
provider = "toy-layers"
target = "toy_layers.affine:Net"
requires = "^1.2"
fingerprint = "FINGERPRINT"
constructor = "(config)"
forward = "(x, mask=None)"
arguments = { config = { target = "toy_layers.affine:Config", fields = { width = "cols" } } }

[op.dims]
rows = "number of rows"
cols = "row length"

[op.dtypes]
T = ["float32"]

[[op.input]]
name = "x"
shape = ["rows", "cols"]
dtype = "T"
init = { normal = { std = 1.0 } }

[[op.output]]
name = "logits"
shape = ["rows", "cols"]
dtype = "T"

[[op.case]]
id = "tiny"
scale = "small"
rows = 64
cols = 48
T = "float32"

[[op.case]]
id = "full"
scale = "full"
rows = 64
cols = 480
T = "float32"
"""


def install(site: Path) -> None:
    """Fills a folder as pip would have."""
    (site / "toy_layers").mkdir()
    (site / "toy_layers" / "__init__.py").write_text("")
    (site / "toy_layers" / "affine.py").write_text(LIBRARY)
    (site / "toy_layers-1.4.2.dist-info").mkdir()
    (site / "toy_layers-1.4.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-layers\nVersion: 1.4.2\n")
