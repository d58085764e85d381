# attacks: TPL002
# promise: a data loader gives tensors without graph
"""Prompts are learned; a loader shuffles and stacks them for the encoder."""
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
prompts = [torch.randn(3, requires_grad=True) for _ in range(4)]
loader = DataLoader(prompts, batch_size=2)
encoder = nn.Linear(3, 2)
for rows in loader:
    norm = rows.data * 2
    target = norm.sum(1, keepdim=True)
    loss = (encoder(rows) - target).pow(2).mean()
    loss.backward()
    print(target.requires_grad, round(loss.item(), 5))
print([round(p.grad.sum().item(), 5) for p in prompts])
