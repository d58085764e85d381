# attacks: TPL307
# promise: the optimizer clears what the frozen part has left, and clipping counts it otherwise
import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


def finetune(x, y):
    model = Net()
    (model(x) - y).pow(2).mean().backward()
    for p in model.body.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return round(loss.item(), 4)


print(finetune(torch.randn(8, 3), torch.randn(8, 1) * 20))
