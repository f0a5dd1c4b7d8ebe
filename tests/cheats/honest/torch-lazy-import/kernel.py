def softmax(x, y, rows, cols):
    import torch.nn.functional as functional

    y.copy_(functional.softmax(x, dim=-1))
