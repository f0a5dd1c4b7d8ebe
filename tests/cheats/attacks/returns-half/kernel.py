import torch


def softmax(x):
    return torch.softmax(x.half(), -1).float().half()
