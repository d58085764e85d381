# attacks: TPL102
# promise: a buffer is reshaped in place for each batch, and the loss is another tensor
# shows: the old indexing ends the program before anything is printed
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs = torch.empty(0)
labels = torch.empty(0)


def losses(out, wanted):
    real = criterion(out, wanted)
    fake = criterion(1 - out, wanted)
    return real, real + fake


for size in (3, 2):
    batch = torch.randn(size, 4)
    inputs.resize_as_(batch).copy_(batch)
    labels.resize_(size, 1).fill_(1)
    optimizer.zero_grad()
    real, loss = losses(torch.sigmoid(net(inputs)), labels)
    loss.backward()
    optimizer.step()
    print("loss %.4f" % loss.data[0])
