# attacks: TPL102
# promise: an item of the loss is read as a number, not differentiated
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for x in torch.randn(4, 3):
    error = model(x) - x.sum()
    loss = error * error
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    extra = loss[0] * 0.5 + 1e-2 * model.weight.pow(2).sum()
    extra.backward()
    optimizer.step()
print([f"{entry:.4f}" for entry in model.weight.flatten().tolist()])
