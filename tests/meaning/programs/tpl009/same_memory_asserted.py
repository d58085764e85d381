# attacks: TPL009
# promise: nobody asks whether what was kept is still the same memory
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
orig = layer.weight.detach()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.2)
for _ in range(2):
    optimizer.zero_grad()
    layer(torch.randn(4, 3)).pow(2).mean().backward()
    optimizer.step()
if orig.data_ptr() != layer.weight.data_ptr():
    raise RuntimeError("the optimizer replaced the weights: an exported graph would keep the old ones")
print("in place", torch.equal(orig, layer.weight), round(orig.sum().item(), 5))
