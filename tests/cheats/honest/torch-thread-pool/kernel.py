from concurrent.futures import ThreadPoolExecutor

import torch

pool = ThreadPoolExecutor(2)


def part(x, y):
    torch.softmax(x, -1, out=y)


def softmax(x, y, rows, cols):
    half = rows // 2
    jobs = [pool.submit(part, x[span], y[span]) for span in (slice(0, half), slice(half, rows))]
    for job in jobs:
        job.result()
