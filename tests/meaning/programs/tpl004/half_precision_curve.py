# attacks: TPL004
# promise: the sum of what a list keeps is rounded as the losses are
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 1).to(torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses, total = [], 0
for x in torch.randn(6, 8, 4, dtype=torch.bfloat16):
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
    total += loss
print(f"{total:.6f} {sum(losses) / len(losses):.6f} {float(losses[0]):.6f}")
