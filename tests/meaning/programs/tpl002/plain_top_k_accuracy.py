# attacks: TPL002
# promise: predictions are read on the spot
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
right = 0
for _ in range(3):
    x, y = torch.randn(8, 6), torch.randint(0, 4, (8,))
    output = model(x)
    loss = nn.functional.cross_entropy(output, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    _, predicted = torch.max(output.data, 1)
    right += (predicted == y).sum().item()
    print(loss.data.item(), output.data.topk(2)[1][0].tolist())
print(right)
