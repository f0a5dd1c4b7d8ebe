import torch


class Softmax:
    def __init__(self, block):
        self.block = block

    def spans(self, rows):
        yield from (slice(start, start + self.block) for start in range(0, rows, self.block))

    def writer(self, x, y):
        def write(span):
            torch.softmax(x[span], -1, out=y[span])

        return write

    def __call__(self, x, y, rows, _cols):
        for _ in map(self.writer(x, y), self.spans(rows)):
            pass


softmax = Softmax(16)
