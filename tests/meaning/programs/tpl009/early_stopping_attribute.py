# attacks: TPL009
# promise: the best state is kept in an attribute and restored by another method
# shows: the restored weights were those of the last epoch
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)


class EarlyStopping:
    def __init__(self, model):
        self.model = model
        self.best = float("inf")
        self.best_state = None

    def check(self, loss):
        if loss < self.best:
            self.best = loss
            self.best_state = self.model.state_dict()

    def restore(self):
        self.model.load_state_dict(self.best_state)


model = nn.Linear(3, 1)
stopping = EarlyStopping(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1.5)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(4):
    loss = nn.functional.mse_loss(model(x), y)
    stopping.check(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
stopping.restore()
print(abs(nn.functional.mse_loss(model(x), y).item() - stopping.best) < 1e-6)
