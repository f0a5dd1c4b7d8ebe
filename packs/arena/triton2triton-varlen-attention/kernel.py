"""Attention over packed sequences, one program a head and 16 or 32 neighbouring tokens, of whichever sequences they are."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def attend(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr, DIM: tl.constexpr):
    token = tl.program_id(0) * TILE + tl.arange(0, TILE)
    first = tl.zeros([TILE], tl.int32)
    end = tl.zeros([TILE], tl.int32)
    for s in range(batch):
        low = tl.load(cu_seqlens + s)
        high = tl.load(cu_seqlens + s + 1)
        is_here = (token >= low) & (token < high)
        first = tl.where(is_here, low, first)
        end = tl.where(is_here, high, end)
    if CAUSAL:
        end = tl.minimum(end, token + 1)

    stride = heads * head_dim
    dim = tl.arange(0, DIM)
    offset = tl.program_id(1) * head_dim + dim[None, :]
    own = token.to(tl.int64)[:, None] * stride + offset
    is_own = (token[:, None] < tokens) & (dim[None, :] < head_dim)
    queries = tl.load(q + own, mask=is_own, other=0.0)
    largest = tl.full([TILE], float("-inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, DIM], tl.float32)
    for start in range(tl.min(tl.where(token < tokens, first, tokens), axis=0), tl.max(end, axis=0), TILE):
        other = start + tl.arange(0, TILE)
        at = other.to(tl.int64)[:, None] * stride + offset
        is_there = (other[:, None] < tokens) & (dim[None, :] < head_dim)
        keys = tl.load(k + at, mask=is_there, other=0.0)
        values = tl.load(v + at, mask=is_there, other=0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        scores = tl.where((other[None, :] >= first[:, None]) & (other[None, :] < end[:, None]), scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        base = tl.where(larger == float("-inf"), 0.0, larger)  # a token that has seen nothing yet
        powers = tl.exp(scores - base[:, None])
        kept = tl.exp(largest - base)
        total = total * kept + tl.sum(powers, axis=1)
        sums = tl.dot(powers.to(values.dtype), values, acc=sums * kept[:, None], input_precision="ieee")
        largest = larger
    total = tl.where(token < tokens, total, 1.0)
    tl.store(o + own, (sums / total[:, None]).to(o.dtype.element_ty), mask=is_own)


def varlen_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens: torch.Tensor,
    o: torch.Tensor,
    tokens: int,
    heads: int,
    head_dim: int,
    batch: int,
    causal: bool,
) -> None:
    """q, k, v [tokens, heads, head_dim], cu_seqlens [batch + 1] → o, shaped like q."""
    scale = 1.0 / math.sqrt(head_dim)
    dim = max(16, triton.next_power_of_2(head_dim))
    tile = 32 if dim <= 128 else 16  # so that float32 tiles fit shared memory
    attend[(triton.cdiv(tokens, tile), heads)](q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, scale, CAUSAL=causal, TILE=tile, DIM=dim)
