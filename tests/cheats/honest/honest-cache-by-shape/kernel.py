import torch

workspaces = {}


def softmax(x, y, rows, cols):
    work = workspaces.setdefault((rows, cols), torch.empty(rows, cols, device=x.device))
    torch.sub(x, x.amax(-1, keepdim=True), out=work)
    work.exp_()
    torch.div(work, work.sum(-1, keepdim=True), out=y)
