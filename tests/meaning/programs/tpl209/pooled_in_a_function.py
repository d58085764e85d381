# attacks: TPL209
# promise: features that are pooled round by round, and read nowhere else, give the same
# stays safe: yes
import torch
from torch import nn


def encode(encoder, head, clips):
    pooled = torch.zeros(2, 4)
    with torch.no_grad():
        for clip in clips:
            features = encoder(clip)
            pooled += torch.relu(features)
        return head(pooled / len(clips))


torch.manual_seed(0)
print([round(v, 4) for v in encode(nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(3, 2, 3)).flatten().tolist()])
