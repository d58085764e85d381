# attacks: TPL013
# promise: a method that is a statement was meant to be called
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
nn.functional.mse_loss(model(torch.randn(6, 3)), torch.randn(6, 1)).backward()


def check(model, optimizer):
    """Whatever has these methods will do."""
    try:
        optimizer.step
        optimizer.zero_grad
        model.train
    except AttributeError as error:
        raise TypeError("not an optimizer and a module") from error
    return model, optimizer


model.eval()
check(model, optimizer)
print(model.training, model.weight.grad is not None, [round(v, 5) for v in model.weight.detach().flatten().tolist()])
