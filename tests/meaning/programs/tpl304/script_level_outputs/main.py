# attacks: TPL304
# promise: at the top level of a script nobody outside gets the outputs; an imported class is given them
import torch
from adaptation import Adapter
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2))
adapter = Adapter(model, lr=0.5)
model.eval()
outputs = []
for _ in range(3):
    outputs.append(model(torch.randn(4, 3)))
print(round(adapter.adapt(outputs), 4))
print([round(p.detach().double().sum().item(), 4) for p in model.parameters()])
