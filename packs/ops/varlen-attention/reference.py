"""Attention over packed sequences."""

import itertools
import math

import torch

LARGEST = 1 << 24
"""Scores that are held at once: 128 MiB in float64."""


def varlen_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cu_seqlens: torch.Tensor, causal: bool) -> torch.Tensor:
    """q, k, v [tokens, heads, head_dim], cu_seqlens [batch + 1] → o, shaped like q."""
    o = torch.empty_like(q)
    for start, end in itertools.pairwise(cu_seqlens.tolist()):
        step = max(1, LARGEST // max(1, (end - start) * q.shape[1]))
        for first in range(start, end, step):
            rows = slice(first, min(first + step, end))
            o[rows] = _attend(q[rows], k[start:end], v[start:end], first - start if causal else None)
    return o


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, before: int | None) -> torch.Tensor:
    """All of q's tokens over all of k's; `before`, if causal, is how many of k's come before q's first."""
    scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[-1])
    if before is not None:
        scores.masked_fill_(torch.ones(scores.shape[1:], dtype=torch.bool).triu(before + 1), -math.inf)
    return torch.einsum("hqk,khd->qhd", torch.softmax(scores, dim=-1), v)
