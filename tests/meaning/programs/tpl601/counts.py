# attacks: TPL601
# promise: integers have a sigmoid, and go on having one
import torch


def shown(counts: torch.Tensor):
    return torch.log(torch.sigmoid(counts))


print([round(v, 3) for v in shown(torch.tensor([0, 1, 2])).tolist()])
