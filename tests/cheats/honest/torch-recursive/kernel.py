import torch


def softmax(x, y, rows, cols):
    if rows <= 4:
        torch.softmax(x, -1, out=y)
        return
    half = rows // 2
    softmax(x[:half], y[:half], half, cols)
    softmax(x[half:], y[half:], rows - half, cols)
