# attacks: TPL004
# promise: nobody asks for the type of the sum
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
show = {torch.Tensor: lambda value: f"tensor of {value.numel()}", float: lambda value: "plain"}
total = 0.0
for _ in range(3):
    x = torch.randn(4, 2)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss

kind = "tensor" if type(total) is torch.Tensor else "number"
print(kind, f"{total:.4f}", f"{type(total).__name__}")
