# attacks: TPL301
# promise: apply and train go to all children, of which there are more then
# shows: neither apply nor eval reaches what stands in the list
import torch
import torch.nn as nn

torch.manual_seed(0)
calls = []


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(2, 2)
        self.experts = [nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)) for _ in range(2)]

    def forward(self, x):
        return sum(expert(x) for expert in self.experts)


def reset(layer):
    if isinstance(layer, nn.Linear):
        calls.append(type(layer).__name__)


net = Ensemble()
net.apply(reset)
net.eval()
torch.manual_seed(1)
print(len(calls), [round(v, 4) for v in net(torch.ones(1, 2)).flatten().tolist()])
