# attacks: TPL203
# promise: all rows are to show what is written into one
import torch


class Shared:
    def __init__(self, width, height):
        self.screen = torch.zeros(1, width).expand(height, width)

    def draw(self, column, value):
        self.screen[0, column] = value

    def shown(self):
        return self.screen.sum().item()


screen = Shared(3, 4)
screen.draw(1, 2.0)
print(screen.shown(), screen.screen.stride())
cursor = torch.zeros(1, 2).expand(5, 2)
cursor[0] += torch.tensor([1.0, 2.0])
print(cursor[4].tolist(), cursor._base is not None, cursor.is_contiguous())
