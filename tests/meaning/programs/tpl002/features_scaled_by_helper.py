# attacks: TPL002
# promise: dropout outside of training gives its input, which a function scales in place
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def unit_rows(rows):
    for row in rows:
        row /= row.norm()
    return rows


encoder = nn.Linear(4, 3)
hidden = torch.tanh(encoder(torch.randn(5, 4)))
features = F.dropout(hidden, p=0.5, training=False).data
bank = unit_rows(features)
hidden.sum().backward()
print(round(bank.norm().item(), 4), [round(v, 4) for v in encoder.bias.grad.tolist()])
