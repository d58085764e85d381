# attacks: TPL004
# promise: no hook is put on the kept tensors before their backward pass
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(2, 2)
seen, losses = [], []
for step in range(3):
    x = torch.randn(5, 2)
    loss = F.mse_loss(model(x), x.flip(1))
    losses.append(loss)
    losses[-1].register_hook(lambda grad: seen.append(grad.item()))
    (loss * 0.5).backward()
print(seen, f"{model.weight.grad.sum().item():.4f}")
