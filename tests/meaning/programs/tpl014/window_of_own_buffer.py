# attacks: TPL014
# promise: an attribute may become a copy of itself
import torch

torch.manual_seed(0)


class Delay:
    def __init__(self, length):
        self.buffer = torch.zeros(length + 1)
        self.window = self.buffer[1:]

    def push(self, value):
        self.buffer.clone()
        self.buffer[:-1] = self.window.clone()
        self.buffer[-1] = value
        return self.window.mean().item()


delay = Delay(3)
print([round(delay.push(float(t)), 5) for t in range(5)])
