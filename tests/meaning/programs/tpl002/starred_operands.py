# attacks: TPL002
# promise: what an operation makes of starred operands has no graph
"""Two views of each image are compared; the similarity that weighs the loss is a constant."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 4)
pair = []
for _ in range(2):
    pair.append(net(torch.randn(5, 3)))
similarity = torch.cosine_similarity(*pair)
weight = similarity.data + 1
loss = (weight * (pair[0] - pair[1]).pow(2).sum(1)).mean()
loss.backward()
print(weight.requires_grad, round(loss.item(), 5), [round(v, 5) for v in net.weight.grad.sum(1).tolist()])
