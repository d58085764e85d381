# attacks: TPL101
# promise: what a function under `no_grad` is given has no graph
import torch
from freezing import frozen
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(3, 2), nn.Linear(2, 3)
x = torch.randn(4, 3)
code = torch.tanh(encoder(x))
commitment = (decoder(frozen(code)) - x).pow(2).mean()
commitment.backward()
print(encoder.weight.grad, f"{decoder.weight.grad.sum().item():.4f}", frozen(code).requires_grad)
