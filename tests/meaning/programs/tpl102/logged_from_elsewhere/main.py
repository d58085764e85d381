# attacks: TPL102
# promise: the losses that a helper gets in its own file are all that it gets
import torch
from logbook import Logbook
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
book = Logbook()
for step in range(2):
    error = (model(torch.randn(4, 3)) - 1).pow(2).squeeze(1)
    error.mean().backward()
    book.note(step, error)
print(book.lines)
