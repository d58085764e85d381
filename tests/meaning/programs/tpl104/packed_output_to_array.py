# attacks: TPL104
# promise: the first result of a recurrent layer is a tensor
"""Features of all words of a packed batch are exported as one array."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

torch.manual_seed(0)
gru = nn.GRU(2, 3)
batch = pack_sequence([torch.randn(n, 2) for n in (3, 2)])
with torch.no_grad():
    out, hidden = gru(batch)
features = out.data.cpu().numpy()
padded, lengths = pad_packed_sequence(out)
print(features.shape, type(out).__name__, round(float(features.sum()), 5))
print(round(padded.sum().item(), 5), lengths.tolist())
