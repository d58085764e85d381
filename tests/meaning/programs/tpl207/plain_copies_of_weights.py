# attacks: TPL207
# promise: the copies of a layer's weights are copies with and without the fix
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
before = torch.tensor(layer.weight)
for _ in range(3):
    loss = layer(torch.ones(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print((layer.weight - before).abs().sum().item() > 0)
print(before.requires_grad, type(before).__name__, [round(v, 3) for v in before.flatten().tolist()])
