# attacks: TPL002
# promise: a function of torch makes a new tensor
"""Evaluation without dropout keeps the features of a prompt; they are scaled afterwards, in place."""
import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)
prompt = nn.Parameter(torch.randn(2, 3))


def features(p):
    with torch.no_grad():
        return functional.dropout(prompt.data, p, training=False)


kept = features(0.1)
kept *= 2
print(type(kept).__name__, kept.requires_grad, [round(v, 5) for v in prompt.flatten().tolist()])
