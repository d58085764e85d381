import torch


class Field:
    """Values on a line, with what makes others like it."""

    def __init__(self, values):
        self.values = values

    def new_zeros(self, count):
        return torch.zeros(count)
