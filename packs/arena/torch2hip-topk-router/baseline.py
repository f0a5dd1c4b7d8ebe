"""Choice of experts: a stable sort, as topk promises no order among equal logits, then softmax over the first k."""

import torch


def topk_router(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """logits [tokens, experts] → indices int32 and weights float32, both [tokens, k]."""
    values, order = torch.sort(logits, dim=-1, descending=True, stable=True)
    return order[:, :k].to(torch.int32), torch.softmax(values[:, :k].float(), dim=-1)
