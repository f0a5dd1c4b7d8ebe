import torch


class TooWide(Exception):
    pass


def narrow(x, y):
    if x.shape[-1] > 100:
        raise TooWide(x.shape[-1])
    e = (x - x.amax(-1, keepdim=True)).exp()
    torch.div(e, e.sum(-1, keepdim=True), out=y)


def softmax(x, y, rows, cols):
    try:
        narrow(x, y)
    except TooWide:
        torch.softmax(x, -1, out=y)
