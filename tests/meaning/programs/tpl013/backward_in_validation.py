# attacks: TPL013
# promise: what is named can be called where it is named
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def run(x, y, training):
    with torch.set_grad_enabled(training):
        loss = nn.functional.mse_loss(model(x), y)
    if training:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(x, y):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward
    return loss.item()


for epoch in range(2):
    trained = run(torch.randn(8, 3), torch.randn(8, 1), True)
    print(epoch, round(trained, 5), round(validate(torch.randn(4, 3), torch.randn(4, 1)), 5))
