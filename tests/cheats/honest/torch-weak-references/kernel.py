import contextlib
import weakref

import torch


class Workspace:
    def __init__(self, rows, cols):
        self.tensor = torch.empty(rows, cols)


known = weakref.WeakValueDictionary()


@contextlib.contextmanager
def workspace(rows, cols):
    held = known.get((rows, cols)) or known.setdefault((rows, cols), Workspace(rows, cols))
    yield held.tensor


def softmax(x, y, rows, cols):
    with workspace(rows, cols) as work:
        torch.exp(x - x.amax(-1, keepdim=True), out=work)
        torch.div(work, work.sum(-1, keepdim=True), out=y)
