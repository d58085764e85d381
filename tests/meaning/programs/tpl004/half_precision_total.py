# attacks: TPL004
# promise: the sum keeps the type that the losses have
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 1).to(torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = 0
for step in range(4):
    x = torch.randn(8, 4).to(torch.bfloat16)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
message = f"{total:.1f}"
scale = torch.ones(3, dtype=torch.bfloat16) * total
print(len(message) > 2, scale.dtype, torch.result_type(torch.ones(1, dtype=torch.long), total))
