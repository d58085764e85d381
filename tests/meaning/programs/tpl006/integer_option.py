# attacks: TPL006
# promise: what is given for the flag is True or False
import argparse

import torch
from torch import nn

torch.manual_seed(0)
parser = argparse.ArgumentParser()
parser.add_argument("--tune-encoder", type=int, default=0, help="1 to train the encoder as well")
args = parser.parse_args([])

encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
head = nn.Linear(8, 1)
encoder.requires_grad = args.tune_encoder
params = list(head.parameters()) + (list(encoder.parameters()) if args.tune_encoder else [])
optimizer = torch.optim.SGD(params, lr=0.1)
x, y = torch.randn(12, 4), torch.randn(12, 1)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(head(encoder(x)), y)
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5), round(head.weight.sum().item(), 5), round(encoder[0].weight.sum().item(), 5))
