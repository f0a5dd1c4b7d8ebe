import contextlib
import weakref

import torch


class Workspace:
    def __init__(self, rows, cols, device):
        self.tensor = torch.empty(rows, cols, device=device)


known = weakref.WeakValueDictionary()


@contextlib.contextmanager
def workspace(rows, cols, device):
    held = known.get((rows, cols)) or known.setdefault((rows, cols), Workspace(rows, cols, device))
    yield held.tensor


def softmax(x, y, rows, cols):
    with workspace(rows, cols, x.device) as work:
        torch.exp(x - x.amax(-1, keepdim=True), out=work)
        torch.div(work, work.sum(-1, keepdim=True), out=y)
