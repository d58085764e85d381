import torch
from torch.utils.data import Dataset


class Digits(Dataset):
    def __init__(self, count):
        self.data = torch.rand(count, 4)
        self.targets = torch.arange(count) % 3

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index], self.targets[index]
