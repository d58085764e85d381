# attacks: TPL001
# promise: an imported helper called in the statement keeps no graph
"""Codebook refresh; the encoder remembers its commitment loss for the training step."""
import torch
from encoder import Encoder

torch.manual_seed(0)
encoder = Encoder(4, 3)
codebook = torch.randn(6, 3, requires_grad=True)

codebook.data[:4] = encoder.encode(torch.randn(4, 4))
loss = encoder.auxiliary_loss() + codebook.pow(2).sum()
loss.backward()
print("encoder", encoder.weight.grad.abs().sum().mul(1e4).round().item())
print("codebook", codebook.grad.sum().mul(1e4).round().item())
