# attacks: TPL304
# promise: the perplexity needs no graph
# stays safe: yes
import math

import torch
import torch.nn as nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.rnn = nn.GRU(4, 4, batch_first=True)
        self.out = nn.Linear(4, 6)

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return self.out(states)


def evaluate(model, sentences):
    model.eval()
    total, count = 0.0, 0
    for tokens in sentences:
        scores = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
        total += loss.item()
        count += tokens[:, 1:].numel()
    return math.exp(total / count)


print(round(evaluate(Model(), torch.randint(0, 6, (3, 2, 5))), 4))
