# attacks: TPL006
# promise: freezing for one forward pass changes no output
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.GRU(3, 4, batch_first=True)
encoder.requires_grad = False
probe = nn.Linear(4, 2)
optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
x, y = torch.randn(10, 5, 3), torch.randint(0, 2, (10,))
for epoch in range(4):
    _, hidden = encoder(x)
    loss = nn.functional.cross_entropy(probe(hidden[-1]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 5))
