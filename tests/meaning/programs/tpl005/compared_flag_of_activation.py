# attacks: TPL005
# promise: the flag of what is compared can be set
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Linear(4, 4)
head = nn.Linear(4, 2)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(8, 4)
y = torch.randint(0, 2, (8,))

for step in range(4):
    features = torch.relu(encoder(x))
    features.requires_grad == False
    loss = nn.functional.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
print(round(encoder.weight.detach().sum().item(), 5), round(head.weight.detach().sum().item(), 5))
