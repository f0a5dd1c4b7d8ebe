import warnings

import torch


def by_parts(x: torch.Tensor) -> torch.Tensor:
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    scripted = torch.jit.script(by_parts)


def softmax(x, y, rows, cols):
    y.copy_(scripted(x))
