# attacks: TPL304
# promise: a text that is sampled from a model, with its random numbers, is the same
# stays safe: yes
import torch
from torch import nn


def generate(model, start, steps):
    """Samples one token after the other."""
    model.eval()
    ids = [start]
    for _ in range(steps):
        logits = model(torch.tensor(ids[-1:]))
        ids.append(torch.multinomial(logits[-1].softmax(-1), 1).item())
    return ids


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(9, 6), nn.Dropout(0.5), nn.Linear(6, 9))
print(generate(model, 3, 8))
