# attacks: TPL401
# promise: a range is the same whether it is rounded at the end or made in the dtype
import torch


def positions(length, rates):
    steps = torch.arange(length).bfloat16()
    return (steps[:, None] * rates.bfloat16()).double()


table = positions(5000, torch.tensor([1.0, 0.5]))
print(table[4000:4100:20].tolist())
print(table.sum(0).tolist())
