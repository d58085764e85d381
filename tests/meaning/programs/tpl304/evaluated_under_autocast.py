# attacks: TPL304
# promise: autocast keeps the casts of the weights, with or without a graph, for the training behind it
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
batches = torch.randn(3, 5, 4)


def evaluate(batches):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).float().pow(2).mean().item()
    return total


with torch.autocast("cpu", dtype=torch.bfloat16):
    print(round(evaluate(batches), 2))
    model.train()
    loss = model(batches[0]).float().pow(2).mean()
print("trains", loss.requires_grad)
if loss.requires_grad:
    loss.backward()
print(model.weight.grad is not None)
