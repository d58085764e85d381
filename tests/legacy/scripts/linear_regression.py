"""Fits a line through noisy points."""
from __future__ import print_function

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
np.random.seed(0)
x_train = np.linspace(0, 1, 20).reshape(-1, 1).astype(np.float32)
y_train = (2 * x_train - 1 + 0.1 * np.random.randn(20, 1)).astype(np.float32)


class LinearRegression(nn.Module):
    def __init__(self):
        super(LinearRegression, self).__init__()
        self.linear = nn.Linear(1, 1)

    def forward(self, x):
        return self.linear(x)


model = LinearRegression()
criterion = nn.MSELoss(size_average=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

history = []
for epoch in range(30):
    inputs = Variable(torch.from_numpy(x_train))
    target = Variable(torch.from_numpy(y_train))

    out = model(inputs)
    loss = criterion(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.data[0])
    if (epoch + 1) % 10 == 0:
        print('Epoch[{}/{}], loss: {:.6f}'.format(epoch + 1, 30, loss.data[0]))

model.eval()
predict = model(Variable(torch.from_numpy(x_train)))
predict = predict.data.numpy()
history.append(float(predict.sum()))
