# attacks: TPL014
# promise: positions are moved to the device of the tokens
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
table = nn.Embedding(8, 3)


def embedded(tokens: torch.Tensor):
    positions = torch.arange(tokens.size(1))
    positions.to(tokens.device)
    return table(tokens) + table(positions)


print(round(embedded(torch.tensor([[1, 2, 3]])).sum().item(), 4))
