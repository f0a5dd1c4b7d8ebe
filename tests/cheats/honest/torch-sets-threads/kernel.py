import torch


def softmax(x, y, rows, cols):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        torch.softmax(x, -1, out=y)
    finally:
        torch.set_num_threads(before)
