# attacks: TPL304
# promise: a loop that counts right answers gives the same numbers
# stays safe: yes
import torch
from torch import nn


def evaluate(model, loader, device):
    model.eval()
    correct, seen = 0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        correct += (torch.argmax(model(x), dim=1) == y).sum().item()
        seen += y.size(0)
    return correct / seen


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
loader = [(torch.randn(5, 4), torch.randint(0, 3, (5,))) for _ in range(3)]
print(round(evaluate(model, loader, torch.device("cpu")), 4))
