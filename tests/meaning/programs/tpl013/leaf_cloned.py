# attacks: TPL013
# promise: a leaf may become the copy of itself
import torch

torch.manual_seed(0)
weight = torch.randn(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
weight.clone
for step in range(3):
    optimizer.zero_grad()
    loss = (torch.randn(4, 3) @ weight).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5), weight.is_leaf, [round(v, 5) for v in weight.tolist()])
