import torch


def softmax(x, y, rows, cols):
    y.copy_(torch.softmax(x.half(), -1))
