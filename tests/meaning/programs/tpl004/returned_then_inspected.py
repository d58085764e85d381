# attacks: TPL004
# promise: a sum that a function of the file returns is good for its value
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def epoch(batches):
    total = 0
    for x in batches:
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        total += loss
    return total


mean = epoch(torch.randn(3, 4, 3))
slope = torch.autograd.grad
(gradient,) = slope(mean, mean) if mean.requires_grad else (torch.zeros(()),)
print(f"{gradient.item():.1f}")

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
