import time


def softmax(x, y, rows, cols):
    time.sleep(3600)
