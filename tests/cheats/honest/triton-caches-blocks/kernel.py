import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + tl.program_id(0) * n + at, v / tl.sum(v, 0), mask=at < n)


launchers = {}


def launcher(cols):
    block = triton.next_power_of_2(cols)
    return lambda x, y, rows: rows_kernel[(rows,)](x, y, cols, BLOCK=block, num_warps=4)


def softmax(x, y, rows, cols):
    if cols not in launchers:
        launchers[cols] = launcher(cols)
    launchers[cols](x, y, rows)
