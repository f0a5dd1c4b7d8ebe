def softmax(x, y, rows, cols):
    raise ValueError("no such thing")
