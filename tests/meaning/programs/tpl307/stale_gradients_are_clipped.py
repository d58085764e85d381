# attacks: TPL307
# promise: the optimizer clears gradients of what was frozen, which clipping counts otherwise
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x, y = torch.randn(8, 3), torch.randn(8, 1) * 20
(model(x) - y).pow(2).mean().backward()
print("warm-up", round(model[0].weight.grad.norm().item(), 3))
for p in model[0].parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print([round(v, 4) for v in model[2].weight.flatten().tolist()])
