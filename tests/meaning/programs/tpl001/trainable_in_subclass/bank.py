import torch


class Bank:
    def __init__(self, count, width):
        self.make(count, width)

    def make(self, count, width):
        self.items = torch.randn(count, width)

    def scores(self, query):
        return self.items @ query

    def normalise(self):
        self.items.data.div_(torch.full((self.items.shape[0], 1), 2.0))
