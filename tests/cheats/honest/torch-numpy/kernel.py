import numpy as np


def softmax(x, y, rows, cols):
    a, out = x.numpy(), y.numpy()
    np.subtract(a, a.max(axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=-1, keepdims=True)
