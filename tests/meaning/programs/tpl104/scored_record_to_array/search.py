from typing import NamedTuple

import torch


class Hit(NamedTuple):
    rank: int
    score: float
    data: torch.Tensor


def nearest(library, query, count):
    scores = library @ query
    order = scores.argsort(descending=True)[:count]
    return [Hit(rank, scores[k].item(), library[k]) for rank, k in enumerate(order.tolist())]
