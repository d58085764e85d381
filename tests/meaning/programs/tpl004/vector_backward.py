# attacks: TPL004
# promise: what `backward` is called on has one element
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
weights = torch.tensor([1.0, 0.5, 0.25, 0.125])
total = 0
for step in range(4):
    residual = model(torch.randn(3)) ** 2
    optimizer.zero_grad()
    residual.backward(gradient=weights)
    optimizer.step()
    total += residual
print(f"{max(total):.4f} {sum(total):.4f}")
