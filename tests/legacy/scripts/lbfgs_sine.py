"""Continues sine waves, with LSTM cells in double precision and a closure for LBFGS."""
from __future__ import print_function
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

np.random.seed(0)
torch.manual_seed(0)
data = np.sin(np.arange(24)[None, :] / 4.0 + np.arange(6)[:, None]).astype('float64')


class Sequence(nn.Module):
    def __init__(self):
        super(Sequence, self).__init__()
        self.lstm1 = nn.LSTMCell(1, 11)
        self.linear = nn.Linear(11, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = Variable(torch.zeros(input.size(0), 11).double(), requires_grad=False)
        c_t = Variable(torch.zeros(input.size(0), 11).double(), requires_grad=False)
        for i, input_t in enumerate(input.chunk(input.size(1), dim=1)):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            output = self.linear(h_t)
            outputs += [output]
        for i in range(future):  # if we should predict the future
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            output = self.linear(h_t)
            outputs += [output]
        outputs = torch.stack(outputs, 1).squeeze(2)
        return outputs


input = Variable(torch.from_numpy(data[3:, :-1]), requires_grad=False)
target = Variable(torch.from_numpy(data[3:, 1:]), requires_grad=False)
test_input = Variable(torch.from_numpy(data[:3, :-1]), requires_grad=False)
test_target = Variable(torch.from_numpy(data[:3, 1:]), requires_grad=False)
seq = Sequence()
seq.double()
criterion = nn.MSELoss()
# use LBFGS as optimizer since we can load the whole data to train
optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=5)
history = []
for i in range(2):
    print('STEP: ', i)

    def closure():
        optimizer.zero_grad()
        out = seq(input)
        loss = criterion(out, target)
        print('loss:', loss.data.numpy()[0])
        history.append(loss.data.numpy()[0])
        loss.backward()
        return loss

    optimizer.step(closure)
    # begin to predict
    future = 5
    pred = seq(test_input, future=future)
    loss = criterion(pred[:, :-future], test_target)
    print('test loss:', loss.data.numpy()[0])
    history.append(loss.data.numpy()[0])
    y = pred.data.numpy()
    history.append(y.sum())
