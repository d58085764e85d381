# attacks: TPL002
# promise: a function whose calls in its file stand under no_grad runs with autograd off
"""The scores of a library's embedding are used in a training step."""
import torch
from scoring import Scorer
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
scorer = Scorer(net)
x = torch.randn(4, 3)
print(scorer.report(x))
weight = scorer.confidence(x)
loss = (weight * net(x).pow(2).sum(1)).mean()
loss.backward()
print(weight.requires_grad, round(loss.item(), 6), [round(v, 6) for v in net.bias.grad.tolist()])
