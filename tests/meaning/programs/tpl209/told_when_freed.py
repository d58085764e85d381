# attacks: TPL209
# promise: the features say when they are freed
import torch
from torch import nn
class Enc(nn.Module):
    def forward(self, x):
        return Logged(x * 2)
class Logged(torch.Tensor):
    def __del__(self):
        print("freed")
def run(xs):
    enc, head = nn.Linear(2, 2), nn.Linear(2, 2)
    e = Enc()
    total = torch.zeros(2)
    with torch.no_grad():
        for i, x in enumerate(xs):
            features = e(x)
            total += features.sum(0)
        print("head")
        out = head(total)
        return out.shape
print(run(torch.ones(2, 3, 2)))
