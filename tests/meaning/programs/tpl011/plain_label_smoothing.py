# attacks: TPL011
# promise: probabilities are smoothed out of place
# shows: backward raises, as softmax saved its result
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_step(x, y):
    probabilities = F.softmax(model(x), dim=1)
    probabilities += 0.01
    loss = F.nll_loss(probabilities.log(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


print(round(train_step(torch.randn(5, 3), torch.tensor([0, 1, 2, 3, 0])), 4))
