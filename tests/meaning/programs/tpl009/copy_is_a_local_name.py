# attacks: TPL009
# promise: the name copy is taken by something else where the state is kept
# shows: the best weights follow the model
import torch
import torch.nn as nn

torch.manual_seed(0)


def copy(source, target):
    for a, b in zip(source.parameters(), target.parameters()):
        b.data.copy_(a.data)


model, frozen = nn.Linear(2, 1), nn.Linear(2, 1)
copy(model, frozen)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
best = model.state_dict()
least = float("inf")
for step in range(4):
    loss = (model(torch.ones(3, 2)) - step).pow(2).mean()
    if loss.item() < least:
        least, best = loss.item(), model.state_dict()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.load_state_dict(best)
copy(model, frozen)
print([round(v, 4) for v in frozen.weight.flatten().tolist()])
