"""A language model of a text of numbers, with truncated backpropagation through time."""
import math
import time

import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(2)
NTOKENS, BPTT, CLIP = 12, 7, 0.25


class RNNModel(nn.Module):
    """Container module with an encoder, a recurrent module, and a decoder."""

    def __init__(self, ntoken, ninp, nhid, nlayers):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.init_weights()
        self.nhid = nhid
        self.nlayers = nlayers

    def init_weights(self):
        initrange = 0.1
        self.encoder.weight.data.uniform_(-initrange, initrange)
        self.decoder.bias.data.fill_(0)
        self.decoder.weight.data.uniform_(-initrange, initrange)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        decoded = self.decoder(output.view(output.size(0) * output.size(1), output.size(2)))
        return decoded.view(output.size(0), output.size(1), decoded.size(1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
                Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()))


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous()


def repackage_hidden(h):
    """Wraps hidden states in new Variables, to detach them from their history."""
    if type(h) == Variable:
        return Variable(h.data)
    else:
        return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i, evaluation=False):
    seq_len = min(BPTT, len(source) - 1 - i)
    data = Variable(source[i:i + seq_len], volatile=evaluation)
    target = Variable(source[i + 1:i + 1 + seq_len].view(-1))
    return data, target


text = torch.LongTensor([(i * 5 + i // 6) % NTOKENS for i in range(400)])
train_data, val_data = batchify(text[:300], 5), batchify(text[300:], 5)
model = RNNModel(NTOKENS, 8, 16, 2)
criterion = nn.CrossEntropyLoss()
history = []


def evaluate(data_source):
    model.eval()
    total_loss = 0
    hidden = model.init_hidden(5)
    for i in range(0, data_source.size(0) - 1, BPTT):
        data, targets = get_batch(data_source, i, evaluation=True)
        output, hidden = model(data, hidden)
        output_flat = output.view(-1, NTOKENS)
        total_loss += len(data) * criterion(output_flat, targets).data
        hidden = repackage_hidden(hidden)
    return total_loss[0] / len(data_source)


def train(lr):
    model.train()
    total_loss = 0
    start_time = time.time()
    hidden = model.init_hidden(5)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, BPTT)):
        data, targets = get_batch(train_data, i)
        # Starting each batch, we detach the hidden state from how it was previously produced.
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output.view(-1, NTOKENS), targets)
        loss.backward()

        torch.nn.utils.clip_grad_norm(model.parameters(), CLIP)
        for p in model.parameters():
            p.data.add_(-lr, p.grad.data)

        total_loss += loss.data
        if batch % 4 == 0 and batch > 0:
            cur_loss = total_loss[0] / 4
            elapsed = time.time() - start_time
            print('| {:5d} batches | ms/batch {:5.2f} | loss {:5.2f} | ppl {:8.2f}'.format(
                batch, elapsed * 1000 / 4, cur_loss, math.exp(cur_loss)))
            history.append(cur_loss)
            total_loss = 0
            start_time = time.time()


for epoch in range(2):
    train(5.0)
    history.append(evaluate(val_data))
