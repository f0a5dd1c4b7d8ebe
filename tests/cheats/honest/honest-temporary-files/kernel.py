import tempfile

import torch

table = tempfile.NamedTemporaryFile()  # noqa: SIM115


def softmax(x, y, rows, cols):
    table.write(b"called")
    torch.softmax(x, -1, out=y)
