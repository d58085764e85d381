# attacks: TPL009
# promise: `copy` is what `from shutil import *` gives, and the module would take its place
import os
import tempfile
from shutil import *

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
initial = model.state_dict()
for _ in range(3):
    loss = (model(torch.ones(2, 3)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.load_state_dict(initial)
with tempfile.TemporaryDirectory() as folder:
    first, second = os.path.join(folder, "first.pt"), os.path.join(folder, "second.pt")
    torch.save(loss.detach(), first)
    copy(first, second)
    print(torch.load(second))
