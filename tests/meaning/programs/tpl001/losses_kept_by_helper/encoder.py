import torch


class Encoder:
    def __init__(self, n_in, n_out):
        self.weight = torch.randn(n_out, n_in, requires_grad=True)
        self._losses = []

    def encode(self, x):
        code = torch.tanh(x @ self.weight.t())
        self._losses.append((code - code.detach().round()).pow(2).mean())
        return code

    def auxiliary_loss(self):
        return torch.stack(self._losses).sum()
