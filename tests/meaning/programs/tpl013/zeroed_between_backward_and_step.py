# attacks: TPL013
# promise: the call that was never made would wipe the gradients of the step
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
start = model.weight.detach().clone()
for _ in range(3):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.zero_grad
    optimizer.step()
print((model.weight - start).abs().sum().item() > 0)
