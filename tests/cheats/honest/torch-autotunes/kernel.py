import time

import torch


def direct(x, y):
    torch.softmax(x, -1, out=y)


def by_parts(x, y):
    torch.sub(x, x.amax(-1, keepdim=True), out=y)
    y.exp_()
    y.div_(y.sum(-1, keepdim=True))


fastest = {}


def seconds(variant, x, y):
    begin = time.perf_counter()
    variant(x, y)
    return time.perf_counter() - begin


def softmax(x, y, rows, cols):
    if (rows, cols) not in fastest:
        fastest[rows, cols] = min((direct, by_parts), key=lambda variant: seconds(variant, x, y))
    fastest[rows, cols](x, y)
