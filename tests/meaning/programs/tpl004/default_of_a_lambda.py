# attacks: TPL004
# promise: a lambda that remembers the sum asks for its value
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
later = []
total = 0.0
for x in torch.randn(3, 4, 3):
    loss = F.mse_loss(model(x), x[:, :1])
    loss.backward(retain_graph=True)
    total = total + loss
    later.append(lambda value=total: value.backward(retain_graph=True))
optimizer.zero_grad()
for run in later:
    run()
optimizer.step()
print(f"{total:.4f}")

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
