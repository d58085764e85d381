# attacks: TPL900
# promise: the program reads its own comments
# shows: a comment is there that silences nothing, and is counted
import torch

torch.manual_seed(0)
rows = torch.ones(2, 3)  # noqa: TPL001
total = rows.sum()  # noqa: TPL004, E501
with open(__file__, encoding="ascii") as source:
    lines = source.read().splitlines()
print(sum("noqa" in line for line in lines), total.item())
