# attacks: TPL001
# promise: no subclass in another file makes the attribute a leaf
"""A learnable bank derives from a fixed one."""
import torch
from bank import Bank

torch.manual_seed(0)


class LearnableBank(Bank):
    def make(self, count, width):
        self.items = torch.randn(count, width, requires_grad=True)


bank = LearnableBank(4, 3)
bank.scores(torch.ones(3)).sum().backward()
bank.normalise()
print(bank.items.is_leaf, [round(v, 4) for v in bank.items.norm(dim=1).tolist()])
print(bank.items.grad.sum().item())
