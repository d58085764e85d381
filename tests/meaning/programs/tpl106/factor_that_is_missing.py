# attacks: TPL106
# promise: the factor in front is missed first, and the error says which key it was
import torch

x = torch.ones(3)


def step(group):
    try:
        x.add_(group["lr"], group["grad"])
    except KeyError as error:
        print("missing", error)


step({"lr": 0.5, "grad": torch.ones(3)})
step({})
print(x)
