# attacks: TPL005
# promise: an imported object's `require_grad` means nothing
import torch

from layers import LayerSpec, build

torch.manual_seed(0)
specs = [LayerSpec(3, 8), LayerSpec(8, 8), LayerSpec(8, 1)]
for spec in specs[:2]:
    spec.require_grad = False

model = build(specs)
print([p.requires_grad for p in model.parameters()])
x, y = torch.randn(16, 3), torch.randn(16, 1)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05)
for epoch in range(5):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 5))
print(round(sum(p.detach().abs().sum().item() for p in model.parameters()), 4))
