# attacks: TPL009
# promise: the best weights are loaded at the end
# shows: they are the last ones
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
best, least = None, 1e9
for epoch in range(6):
    loss = (model(torch.randn(8, 3)) - 1).pow(2).mean()
    if loss.item() < least:
        least = loss.item()
        best = model.state_dict()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.load_state_dict(best)
print([round(v, 4) for v in model.weight.flatten().tolist()])
