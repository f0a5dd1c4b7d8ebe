"""Attention over packed sequences as one attention over all tokens, with a mask that keeps sequences apart."""

import torch


def varlen_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cu_seqlens: torch.Tensor, causal: bool) -> torch.Tensor:
    """q, k, v [tokens, heads, head_dim], cu_seqlens [batch + 1] → [tokens, heads, head_dim]."""
    token = torch.arange(q.shape[0], device=q.device)
    sequence = torch.searchsorted(cu_seqlens, token, right=True)  # lengths stay on the device
    mask = sequence[:, None] == sequence[None, :]
    if causal:
        mask = mask.tril()
    heads = (one.transpose(0, 1)[None] for one in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(*heads, attn_mask=mask)[0].transpose(0, 1)
