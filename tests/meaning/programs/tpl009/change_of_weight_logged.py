# attacks: TPL009
# promise: a weight is compared with what it was before the step
# shows: the weight had never moved, as it was compared with itself
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(3):
    before = model.weight.detach()
    optimizer.zero_grad()
    model(torch.randn(8, 3)).pow(2).mean().backward()
    optimizer.step()
    print(step, (model.weight.detach() - before).abs().max().item() > 0)
