"""Choice of experts for tokens."""

import torch


def topk_router(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """logits [tokens, experts] → indices int32 and weights, both [tokens, k]."""
    values, order = logits.sort(dim=-1, descending=True, stable=True)  # topk promises no order among equals
    return order[:, :k].to(torch.int32), torch.softmax(values[:, :k], dim=-1)
