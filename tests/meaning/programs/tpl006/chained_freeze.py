# attacks: TPL006
# promise: two modules are frozen by one statement
# shows: neither was frozen
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder, head = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)
encoder.requires_grad = decoder.requires_grad = False
loss = head(torch.tanh(decoder(torch.tanh(encoder(torch.randn(5, 3)))))).mean()
loss.backward()
print([layer.weight.grad is None for layer in (encoder, decoder, head)])
