# attacks: TPL004
# promise: a number takes part in arithmetic as the tensor did
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
shares = []
total = 0
for x in torch.randn(3, 4, 2, dtype=torch.double):
    loss = model(x).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
counts = [3, 4]
shares = [count * total for count in counts]
print([f"{share:.4f}" for share in shares], {type(share).__name__ for share in shares})
