import numpy as np


class Tensor:
    def __init__(self, data, rule=lambda g: None):
        self.data, self.grad, self._rule = np.asarray(data, dtype=float), None, rule

    def __mul__(self, other):
        return Tensor(self.data * other.data, lambda g: (self._add(g * other.data), other._add(g * self.data)))

    def sum(self):
        return Tensor(self.data.sum(), lambda g: self._add(np.full_like(self.data, g)))

    def _add(self, g):
        self.grad = g if self.grad is None else self.grad + g
        self._rule(g)

    def backward(self):
        self._rule(1.0)
