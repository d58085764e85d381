# attacks: TPL001, TPL002, TPL101, TPL106
# promise: all safe fixes together leave an RNN with carried state and hand-written SGD as it was
# stays safe: yes
import math

import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(1)


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.fill_(0)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.encoder(tokens), hidden)
        return self.decoder(output.view(-1, output.size(2))), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (Variable(weight.new_zeros(1, bsz, 6)), Variable(weight.new_zeros(1, bsz, 6)))


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return Variable(h.data)
    return tuple(repackage_hidden(v) for v in h)


model, criterion, lr = RNNModel(9, 6), nn.CrossEntropyLoss(), 2.0
data = torch.randint(0, 9, (21, 3))
hidden = model.init_hidden(3)
total_loss = 0
for batch, i in enumerate(range(0, 20, 5)):
    inputs, targets = data[i : i + 5], data[i + 1 : i + 6].reshape(-1)
    hidden = repackage_hidden(hidden)
    model.zero_grad()
    output, hidden = model(inputs, hidden)
    loss = criterion(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(-lr, p.grad.data)
    total_loss += loss.data
    print(batch, round(loss.item(), 5), round(math.exp(float(total_loss) / (batch + 1)), 4))
print(round(model.decoder.weight.data.sum().item(), 5), round(hidden[0].data.sum().item(), 5))
