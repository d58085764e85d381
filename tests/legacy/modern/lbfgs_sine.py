import numpy as np
import torch
from torch import nn, optim
from torch.nn.functional import mse_loss

torch.manual_seed(0)
data = torch.from_numpy(np.sin(np.arange(24)[None, :] / 4.0 + np.arange(6)[:, None]))
cell, linear = nn.LSTMCell(1, 11).double(), nn.Linear(11, 1).double()


def continued(waves, future=0):
    state, outputs = None, []
    for wave in waves.split(1, dim=1):
        state = cell(wave, state)
        outputs.append(linear(state[0]))
    for _ in range(future):
        state = cell(outputs[-1], state)
        outputs.append(linear(state[0]))
    return torch.cat(outputs, 1)


optimizer = optim.LBFGS([*cell.parameters(), *linear.parameters()], lr=0.8, max_iter=5)
history = []


def closure():
    optimizer.zero_grad()
    loss = mse_loss(continued(data[3:, :-1]), data[3:, 1:])
    history.append(loss.item())
    loss.backward()
    return loss


for _ in range(2):
    optimizer.step(closure)
    with torch.no_grad():
        predicted = continued(data[:3, :-1], future=5)
    history.append(mse_loss(predicted[:, :-5], data[:3, 1:]).item())
    history.append(predicted.sum().item())
