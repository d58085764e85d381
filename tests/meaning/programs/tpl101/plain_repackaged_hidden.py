# attacks: TPL101
# promise: the hidden state is cut from its history
# stays safe: yes
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
rnn, out = nn.RNN(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD(list(rnn.parameters()) + list(out.parameters()), lr=0.1)
hidden = torch.zeros(1, 1, 3)
for chunk in torch.randn(3, 4, 1, 2):
    hidden = Variable(hidden)
    states, hidden = rnn(chunk, hidden)
    loss = out(states).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
