# attacks: TPL004
# promise: a function that puts a model in evaluation mode computes figures, not a loss
import torch
from objective import content_loss
from torch import nn

torch.manual_seed(0)
features = nn.ModuleList([nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)])
target = torch.rand(1, 1, 6, 6)
image = torch.rand(1, 1, 6, 6, requires_grad=True)
optimizer = torch.optim.Adam([image], lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    loss = content_loss(features, image, target) + 1e-3 * image.pow(2).sum()
    loss.backward()
    optimizer.step()
print(f"{image.sum().item():.4f} {image.abs().max().item():.4f}")
