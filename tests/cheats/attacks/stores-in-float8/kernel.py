import torch


def softmax(x, y, rows, cols):
    e = torch.exp(x - x.amax(-1, keepdim=True)).to(torch.float8_e4m3fn).float()
    torch.div(e, e.sum(-1, keepdim=True), out=y)
