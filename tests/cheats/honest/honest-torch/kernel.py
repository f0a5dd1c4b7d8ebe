import torch


def softmax(x, y, rows, cols):
    torch.softmax(x, -1, out=y)
