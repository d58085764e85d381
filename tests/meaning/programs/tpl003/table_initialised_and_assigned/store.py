import torch


class Table:
    def __init__(self, rows, width):
        self.generation = 0
        self._data = torch.zeros(rows, width)

    @property
    def data(self):
        return self._data

    @data.setter
    def data(self, value):
        self._data = value
        self.generation += 1
