"""Choice of experts, one program for 16 tokens: k times the largest of the logits that are left."""

import torch
import triton
import triton.language as tl

TOKENS = 16


@triton.jit
def route(logits, indices, weights, tokens, experts, k, TOKENS: tl.constexpr, EXPERTS: tl.constexpr, K: tl.constexpr):
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)[:, None]
    expert = tl.arange(0, EXPERTS)[None, :]
    slot = tl.arange(0, K)[None, :]
    inside = (token < tokens) & (expert < experts)
    values = tl.load(logits + token * experts + expert, mask=inside, other=0.0).to(tl.float32)
    is_left = tl.broadcast_to(expert < experts, [TOKENS, EXPERTS])
    chosen = tl.zeros([TOKENS, K], tl.int32)
    chosen_values = tl.full([TOKENS, K], float("-inf"), tl.float32)
    for i in range(k):
        largest = tl.max(tl.where(is_left, values, float("-inf")), axis=1)[:, None]
        best = tl.min(tl.where(is_left & (values == largest), expert, EXPERTS), axis=1)[:, None]  # the lowest of equals
        chosen = tl.where(slot == i, best, chosen)
        chosen_values = tl.where(slot == i, largest, chosen_values)
        is_left = is_left & (expert != best)
    powers = tl.exp(chosen_values - tl.max(chosen_values, axis=1)[:, None])  # zero behind the k-th
    inside = (token < tokens) & (slot < k)
    tl.store(indices + token * k + slot, chosen, mask=inside)
    tl.store(weights + token * k + slot, powers / tl.sum(powers, axis=1)[:, None], mask=inside)


def topk_router(logits: torch.Tensor, indices: torch.Tensor, weights: torch.Tensor, tokens: int, experts: int, k: int) -> None:
    """logits [tokens, experts] → indices int32 and weights float32, both [tokens, k]."""
    wide, high = triton.next_power_of_2(experts), triton.next_power_of_2(k)
    route[(triton.cdiv(tokens, TOKENS),)](logits, indices, weights, tokens, experts, k, TOKENS=TOKENS, EXPERTS=wide, K=high)
