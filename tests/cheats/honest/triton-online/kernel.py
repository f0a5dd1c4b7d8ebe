import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    m = -float("inf")
    s = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + at, mask=at < n, other=-float("inf"))
        higher = tl.maximum(m, tl.max(v, 0))
        s = s * tl.exp(m - higher) + tl.sum(tl.exp(v - higher), 0)
        m = higher
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + at, mask=at < n, other=-float("inf"))
        tl.store(y + row + at, tl.exp(v - m) / s, mask=at < n)


def softmax(x, y, rows, cols):
    rows_kernel[(rows,)](x, y, cols, BLOCK=64)
