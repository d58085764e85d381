# attacks: TPL304
# promise: an RNN's perplexity over chunks, with its hidden state carried on, is the same
# stays safe: yes
import math

import torch
from torch import nn


class CharRNN(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, tokens)

    def forward(self, ids, state=None):
        hidden, state = self.rnn(self.embed(ids), state)
        return self.head(hidden), state


def evaluate(model, text, length):
    model.eval()
    state, total, count = None, 0.0, 0
    for start in range(0, text.size(1) - 1, length):
        chunk = text[:, start : start + length + 1]
        logits, state = model(chunk[:, :-1], state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].reshape(-1), reduction="sum")
        total, count = total + loss.item(), count + chunk[:, 1:].numel()
    return math.exp(total / count)


torch.manual_seed(0)
print(round(evaluate(CharRNN(11, 8), torch.randint(0, 11, (2, 17)), 4), 3))
