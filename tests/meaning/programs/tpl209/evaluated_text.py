# attacks: TPL209
# promise: a name that is not written is not read; a watch list of expressions reads it
import torch
from torch import nn

torch.manual_seed(0)
WATCH = ("tuple(scores.shape)", "round(total.item(), 4)")
encoder, head = nn.Linear(3, 4), nn.Linear(1, 1)
total = torch.zeros(1)
with torch.no_grad():
    for x in torch.randn(3, 2, 3):
        scores = encoder(x)
        total += scores.mean()
    final = head(total)
print([eval(text) for text in WATCH], round(final.item(), 4))
