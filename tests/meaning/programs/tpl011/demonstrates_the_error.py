# attacks: TPL011
# promise: an error that the code awaits is no result
import torch

torch.manual_seed(0)


def message_of(function):
    try:
        function()
    except RuntimeError as error:
        return str(error).split(":")[0]
    return "nothing was raised"


def changed_leaf():
    w = torch.ones(2, requires_grad=True)
    w += 1


def changed_result():
    w = torch.ones(2, requires_grad=True)
    y = w.exp()
    y.mul_(2)
    y.sum().backward()


print(message_of(changed_leaf))
print(message_of(changed_result))
