import torch


class Logbook:
    def __init__(self):
        self.lines = []

    def note(self, step, loss):
        self.lines.append(f"{step}: {loss.data[0]:.4f} first of {loss.data.numel()}")


def smoke_test():
    weight = torch.ones(1, requires_grad=True)
    loss = (weight * 2).sum()
    loss.backward()
    Logbook().note(0, loss)
