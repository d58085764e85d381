import torch


class MultiTaskTrainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def objectives(self, x):
        y = self.model(x)
        return {"fit": (y - x).pow(2).mean(), "size": y.abs().mean()}

    def backward(self, record):
        self.optimizer.zero_grad()
        sum(record.values()).backward()
        self.optimizer.step()
