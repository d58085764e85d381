# attacks: TPL304
# promise: the text of a tensor has its graph in it
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)


def evaluate(batches):
    model.eval()
    lines = []
    for x in batches:
        loss = model(x).pow(2).mean()
        lines.append("{}".format(loss))
    return lines


def first(batches):
    model.eval()
    for x in batches:
        score = model(x).sum()
        note = f"{score!r}"
    return note


print(evaluate(torch.zeros(2, 2, 3)))
print(first(torch.zeros(1, 2, 3)))
