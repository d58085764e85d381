import random

import torch
from torch import nn, optim
from torch.nn.functional import cross_entropy

random.seed(12)
torch.manual_seed(12)
START, END, VOCABULARY, HIDDEN = 0, 1, 9, 10


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.gru = nn.GRU(HIDDEN * 2, HIDDEN)
        self.attention = nn.Linear(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN * 2, VOCABULARY)

    def forward(self, word, context, hidden, memory):
        rnn_input = torch.cat((self.embedding(word).view(1, 1, -1), context.unsqueeze(0)), 2)
        output, hidden = self.gru(rnn_input, hidden)
        weights = (self.attention(memory[:, 0]) @ output.view(-1)).softmax(0)
        context = weights.unsqueeze(0) @ memory[:, 0]
        return self.out(torch.cat((output[0], context), 1)), context, hidden


encoder, decoder = Encoder(), Decoder()
optimizers = [optim.SGD(network.parameters(), lr=0.05) for network in (encoder, decoder)]
history = []
for epoch in range(6):
    words = [random.randint(2, VOCABULARY - 1) for _ in range(random.randint(2, 5))]
    source, target = torch.tensor([*words, END]), torch.tensor([*reversed(words), END])
    memory, hidden = encoder.gru(encoder.embedding(source).unsqueeze(1))
    word, context, loss = torch.tensor([START]), torch.zeros(1, HIDDEN), 0
    for wanted in target.split(1):
        output, context, hidden = decoder(word, context, hidden, memory)
        loss = loss + cross_entropy(output, wanted)
        word = wanted if epoch % 2 == 0 else output.argmax(1)
        if epoch % 2 and word.item() == END:
            break
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for network, optimizer in zip((encoder, decoder), optimizers):
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
    history.append(loss.item() / len(target))
