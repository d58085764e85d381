# attacks: TPL101
# promise: a repackaged state is cut from its history
import torch
from torch import nn
from torch.autograd import Variable


def repackage_hidden(h):
    """Wraps hidden states anew, to detach them from their history."""
    if isinstance(h, Variable):
        return Variable(h.data)
    return tuple(repackage_hidden(v) for v in h)


torch.manual_seed(0)
rnn, decoder = nn.LSTM(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *decoder.parameters()], lr=0.1)
hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for chunk in torch.randn(3, 5, 1, 2):
    hidden = repackage_hidden(hidden)
    output, hidden = rnn(chunk, hidden)
    loss = decoder(output).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
