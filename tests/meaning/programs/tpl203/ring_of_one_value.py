# attacks: TPL203
# promise: an accumulator that is seen by all rows
import torch

torch.manual_seed(0)


def running_maximum(batches, rows):
    seen = torch.full((1,), float("-inf")).expand(rows)
    history = []
    for batch in batches:
        seen[0] = torch.maximum(seen[-1], batch.max())
        history.append(round(seen[rows // 2].item(), 4))
    return history


print(running_maximum(torch.randn(4, 3), 5))
