"""One program a segment and block of columns."""

import triton
import triton.language as tl


@triton.jit
def _kernel(x, offsets, starts, slots, weight, total, mean, cols, gain, WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    start = tl.load(offsets + segment)
    end = tl.load(offsets + segment + 1)
    acc = tl.zeros([BLOCK], tl.float32)
    first = tl.load(starts + segment)
    for row in range(start, end):
        value = tl.load(x + first + (row - start) * cols + column, column < cols, 0.0).to(tl.float32)
        if WEIGHTED:
            value = value * tl.load(weight + row).to(tl.float32)
        acc += value
    result = acc / tl.maximum(end - start, 1) * gain
    out = tl.load(slots + segment) * cols + column
    before = tl.load(total + out, column < cols, 0.0).to(tl.float32)
    tl.store(mean + out, result, column < cols)
    tl.store(total + out, before + result, column < cols)


def segment_mean(x, offsets, starts, slots, weight, total, mean, segments, cols, weighted, gain):
    _kernel[(segments, triton.cdiv(cols, 128))](x, offsets, starts, slots, weight, total, mean, cols, gain, WEIGHTED=weighted, BLOCK=128)
