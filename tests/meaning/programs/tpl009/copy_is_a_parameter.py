# attacks: TPL009
# promise: the name `copy` is free for the module
# shows: the best weights were those of the last epoch
import torch
from torch import nn

torch.manual_seed(0)


def train(model, x, y, copy):
    """`copy` says whether the best weights come back at the end."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1.5)
    least, best = float("inf"), model.state_dict()
    for _ in range(4):
        loss = nn.functional.mse_loss(model(x), y)
        if loss.item() < least:
            least, best = loss.item(), model.state_dict()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if copy:
        model.load_state_dict(best)
    return abs(nn.functional.mse_loss(model(x), y).item() - least) < 1e-6


print(train(nn.Linear(3, 1), torch.randn(8, 3), torch.randn(8, 1), copy=True))
