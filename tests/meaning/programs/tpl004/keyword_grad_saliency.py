# attacks: TPL004
# promise: no `autograd.grad` differentiates the sum
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    x = torch.randn(6, 2, requires_grad=True)
    optimizer.zero_grad()
    total = x.pow(2).sum() * 1e-2
    for chunk, label in zip(x.split(3), (0, 1)):
        loss = nn.functional.cross_entropy(net(chunk), torch.full((3,), label))
        loss.backward(retain_graph=True)
        total = total + loss
    (saliency,) = torch.autograd.grad(outputs=total, inputs=x)
    optimizer.step()
    print(" ".join(f"{row:.4f}" for row in saliency.abs().sum(dim=1).tolist()))
