# attacks: TPL004
# promise: no backward pass is told of the list by a keyword
import torch
import torch.nn as nn

torch.manual_seed(0)
shared = nn.Linear(4, 4)
heads = [nn.Linear(4, 1) for _ in range(3)]
optimizer = torch.optim.SGD([p for layer in (shared, *heads) for p in layer.parameters()], lr=0.1)
x = torch.randn(6, 4)
for step in range(3):
    optimizer.zero_grad()
    features, losses = shared(x), []
    for number, head in enumerate(heads):
        loss = head(features).sub(number).pow(2).mean()
        if number == 0 and step == 0:
            loss.backward(retain_graph=True)  # the first head gets a head start
        losses.append(loss)
    norm = shared.weight.pow(2).sum() * 1e-3
    torch.autograd.backward(tensors=[norm, *losses])
    optimizer.step()
print(f"{shared.weight.sum().item():.4f}")
