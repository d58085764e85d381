# attacks: TPL004
# promise: a function of the file prints the sum
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def show(epoch, value, batches):
    print(f"epoch {epoch}: {value / batches:.4f}")


for epoch in range(2):
    total = 0.0
    for x in torch.randn(3, 4, 3):
        loss = (model(x) - x[:, :1]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    show(epoch, total, 3)

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
