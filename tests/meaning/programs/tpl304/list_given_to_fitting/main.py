# attacks: TPL304
# promise: nothing in this function runs autograd; the imported function does, through the features made here
import torch
from probing import adjust
from torch import nn


def tune(encoder, head, batches):
    encoder.eval()
    features, targets = [], []
    for x, y in batches:
        features.append(encoder(x))
        targets.append(y)
    adjust(encoder, head, torch.cat(features), torch.cat(targets))


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU())
head = nn.Linear(6, 3)
tune(encoder, head, [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(2)])
print([round(p.detach().double().norm().item(), 4) for p in [*encoder.parameters(), *head.parameters()]])
