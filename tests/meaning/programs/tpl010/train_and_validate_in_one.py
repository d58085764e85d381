# attacks: TPL010
# promise: autograd is on wherever a backward may follow
import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)


def run(x, y, train):
    with torch.set_grad_enabled(train):
        hidden = torch.tanh(encoder(x))
        loss = nn.functional.mse_loss(head(hidden), y)
    if train:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item(), hidden.grad


x, y = torch.randn(8, 3), torch.randn(8, 1)
for epoch in range(2):
    trained, _ = run(x, y, True)
    checked, gradient = run(x, y, False)
    print(epoch, round(trained, 5), round(checked, 5), gradient)
