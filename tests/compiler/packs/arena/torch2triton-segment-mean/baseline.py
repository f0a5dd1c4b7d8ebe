"""The mean of each ragged segment, by one torch call each."""


def segment_mean(x, offsets, starts, slots, weight, total, mean, weighted, gain):
    bounds = offsets.tolist()
    for segment, (a, b) in enumerate(zip(bounds, bounds[1:], strict=False)):
        rows = x[a:b] * weight[a:b, None] if weighted else x[a:b]
        mean[slots[segment]] = rows.float().mean(0) * gain if b > a else 0
    total += mean
