import torch


class Split(torch.utils.data.Dataset):
    def __init__(self, count):
        self.data = torch.randn(count, 3, 2, 2)
        self.targets = list(range(count))

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        return self.data[index], self.targets[index]


def open_split(name):
    return Split({"train": 6, "test": 2}[name])
