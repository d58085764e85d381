# attacks: TPL014
# promise: tensors made in the loop are moved
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cpu")
model = nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4, 3)
    y = torch.randint(0, 2, (4,))
    x.to(device)
    y.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
