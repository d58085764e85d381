# attacks: TPL304
# promise: in-place methods of the caller's tensor hand no graph out
import torch
from torch import nn
from training import step


def gather(encoder, items, out):
    encoder.eval()
    for index, item in enumerate(items):
        out.index_copy_(0, torch.tensor([index]), encoder(item)[None])


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3))
for _ in range(2):
    out = torch.zeros(3, 4)
    gather(encoder, torch.randn(3, 3), out)
    print(step(encoder, out))
