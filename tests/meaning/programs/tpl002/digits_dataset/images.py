import torch


class Digits:
    def __init__(self, count):
        self.data = torch.randint(0, 256, (count, 4, 4), dtype=torch.uint8)
        self.targets = torch.randint(0, 10, (count,))

    def __len__(self):
        return len(self.data)
