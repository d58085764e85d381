# attacks: TPL102
# promise: what `backward` is called on with a gradient has one element
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
importance = torch.tensor([1.0, 0.3, 0.1])
for x in [torch.ones(4), torch.zeros(4), torch.ones(4)]:
    residual = net(x) ** 2
    optimizer.zero_grad()
    residual.backward(gradient=importance)
    optimizer.step()
    print(f"most important: {residual.data[0]:.5f}")
