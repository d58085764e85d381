# attacks: TPL009
# promise: whatever a state holds can be copied
import torch

from sampler import NoisyLinear

torch.manual_seed(0)
model = NoisyLinear(3, 1)
best = model.state_dict()
least = float("inf")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for epoch in range(4):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
    if loss.item() < least:
        least, best = loss.item(), model.state_dict()
    print(epoch, round(loss.item(), 5))
model.load_state_dict(best)
print(sorted(best), round(model.linear.weight.sum().item(), 5))
