# attacks: TPL001
# promise: a helper of the file returns an object that has saved the new tensor
import torch

torch.manual_seed(0)


class Penalty:
    def __init__(self, tensor, factor):
        self.value = (tensor * tensor * factor).sum()

    def backward(self):
        self.value.backward()


def start(factor: torch.Tensor):
    x = torch.ones(3, requires_grad=True)
    penalty = Penalty(x, factor)
    x.data.mul_(3)
    return x, penalty


x, penalty = start(torch.tensor([1.0, 2.0, 3.0]))
penalty.backward()
print(x.grad.tolist(), x.tolist())
