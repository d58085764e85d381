# attacks: TPL002
# promise: the first result of a recurrent layer is a tensor
"""A tagger reads the values of a packed output to keep a running mean of its features."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

torch.manual_seed(0)
lstm = nn.LSTM(2, 3)
words = pack_sequence([torch.randn(n, 2) for n in (4, 2, 1)])
out, (hidden, cell) = lstm(words)
mean = torch.zeros(3)
mean = 0.9 * mean + 0.1 * out.data.mean(0)
hidden.sum().backward()
print(type(out).__name__, [round(v, 5) for v in mean.tolist()])
print(mean.requires_grad, round(lstm.bias_ih_l0.grad.sum().item(), 5))
