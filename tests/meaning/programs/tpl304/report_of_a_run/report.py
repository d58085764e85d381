import torch


class Report:
    def __init__(self):
        self.losses = []

    def record(self, losses):
        self.losses.append(losses)

    def worst(self):
        return round(max(loss.max().item() for loss in self.losses), 4)

    def focus(self, model):
        """A step on the hardest examples of all."""
        model.zero_grad()
        torch.cat(self.losses).topk(3).values.mean().backward()
        for p in model.parameters():
            p.data.sub_(p.grad)
        return round(model.weight.grad.norm().item(), 4)
