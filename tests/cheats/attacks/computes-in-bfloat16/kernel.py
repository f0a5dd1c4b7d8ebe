import torch


def softmax(x, y, rows, cols):
    y.copy_(torch.softmax(x.bfloat16(), -1))
