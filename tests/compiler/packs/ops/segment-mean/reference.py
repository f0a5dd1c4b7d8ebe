"""The mean of each ragged segment, times a gain, and a running total of them."""

import torch


def segment_mean(x, offsets, slots, weight, total, weighted, gain):
    rows = x * weight[:, None] if weighted else x
    bounds = offsets.tolist()
    means = [rows[a:b].mean(0) if b > a else torch.zeros_like(rows[0]) for a, b in zip(bounds, bounds[1:], strict=False)]
    mean = torch.empty_like(total)
    mean[slots] = torch.stack(means) * gain
    return total + mean, mean
