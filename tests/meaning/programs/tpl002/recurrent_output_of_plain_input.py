# attacks: TPL002
# promise: a recurrent layer gives a tensor for a tensor
# stays safe: yes
"""A language model samples from its last output; hidden states are cut between chunks."""
import torch
from torch import nn

torch.manual_seed(0)
lstm, head = nn.LSTM(4, 3, batch_first=True), nn.Linear(3, 5)
h, c = torch.zeros(1, 2, 3), torch.zeros(1, 2, 3)
for _ in range(2):
    x = torch.randn(2, 3, 4)
    out, (h, c) = lstm(x, (h.data, c.data))
    scores = head(out)
    word = torch.multinomial(scores[:, -1].data.exp(), 1)
    scores.pow(2).mean().backward()
    print(word.flatten().tolist(), round(out.data.abs().sum().item(), 5))
print(round(lstm.weight_hh_l0.grad.abs().sum().item(), 5))
