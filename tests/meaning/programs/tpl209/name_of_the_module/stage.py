import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(3, 4), nn.Linear(4, 2)
total = torch.zeros(2, 4)
with torch.no_grad():
    for x in torch.randn(3, 2, 3):
        pooled = encoder(x)
        total += pooled.relu()
    summary = head(total)
