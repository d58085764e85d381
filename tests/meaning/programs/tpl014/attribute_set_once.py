# attacks: TPL014
# promise: the class refuses to have an attribute set again
import torch
class Grid:
    def __init__(self, device: torch.device):
        self.points = torch.ones(3)
        self.points.to(device)
    def __setattr__(self, name, value):
        if name in self.__dict__:
            raise AttributeError(f"{name} is set once")
        super().__setattr__(name, value)
    def total(self):
        return self.points.sum()
print(Grid(torch.device("cpu")).total())
