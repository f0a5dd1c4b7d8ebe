import threading

import torch

local = threading.local()


def softmax(x, y, rows, cols):
    if getattr(local, "shape", None) != (rows, cols):
        local.shape, local.work = (rows, cols), torch.empty(rows, cols, device=x.device)
    torch.sub(x, x.amax(-1, keepdim=True), out=local.work)
    local.work.exp_()
    torch.div(local.work, local.work.sum(-1, keepdim=True), out=y)
