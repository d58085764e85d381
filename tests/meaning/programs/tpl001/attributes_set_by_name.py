# attacks: TPL001
# promise: the stores that are written out are all the stores to an attribute
"""A mixture makes its tensors trainable by name."""
import torch

torch.manual_seed(0)


class Mixture:
    def __init__(self, trainable=()):
        self.mean = torch.zeros(2)
        self.scale = torch.ones(2)
        for name in trainable:
            setattr(self, name, getattr(self, name).clone().requires_grad_())

    def energy(self, x):
        return ((x - self.mean) / self.scale).pow(2).sum()

    def tidy(self):
        self.scale.data.clamp_(min=0.9)
        self.mean.data.mul_(0.5)


mixture = Mixture(["mean", "scale"])
for _ in range(3):
    mixture.energy(torch.randn(4, 2)).backward()
    mixture.tidy()
print(mixture.mean.tolist(), [round(v, 4) for v in mixture.scale.grad.tolist()])
