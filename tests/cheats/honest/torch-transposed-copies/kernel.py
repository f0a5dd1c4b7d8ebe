import torch


def softmax(x, y, rows, cols):
    turned = x.t().contiguous()
    y.copy_(torch.softmax(turned, 0).t())
