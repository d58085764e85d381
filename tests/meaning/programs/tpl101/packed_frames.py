# attacks: TPL101
# promise: the `data` of a packed sequence is that of a tensor
import torch
from torch.autograd import Variable
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
frames = torch.randn(3, 4, 2)
packed = pack_padded_sequence(frames, [4, 3, 1], batch_first=True)
dropped = torch.nn.functional.dropout(Variable(packed.data), p=0.5)
again = PackedSequence(dropped, packed.batch_sizes)
padded, lengths = pad_packed_sequence(again, batch_first=True)
print(tuple(padded.shape), lengths.tolist(), f"{padded.sum().item():.4f}")
