# attacks: TPL102
# promise: the first element of a one-element loss is no tensor afterwards
import torch
from torch import nn

torch.manual_seed(0)
value = nn.Linear(4, 1)
optimizer = torch.optim.SGD(value.parameters(), lr=0.02)
td_errors = {}
for step in range(4):
    state = torch.randn(4)
    loss = (value(state) - state.mean()).abs()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    td_errors[step] = loss.data[0]
priorities = torch.tensor([0.0, 0.0, 0.0, 0.0])
for step, error in td_errors.items():
    priorities[step] = error.clamp(max=1.0).add(1e-3)
print([f"{entry:.4f}" for entry in priorities.tolist()])
