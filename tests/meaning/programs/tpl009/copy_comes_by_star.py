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
with tempfile.TemporaryDirectory() as folder:
    torch.save(initial, os.path.join(folder, "last.pt"))
    copy(os.path.join(folder, "last.pt"), os.path.join(folder, "best.pt"))
    model.load_state_dict(torch.load(os.path.join(folder, "best.pt")))
print(model.weight, model.bias)
