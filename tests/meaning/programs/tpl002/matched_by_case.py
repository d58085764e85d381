# attacks: TPL002
# promise: the case that a match takes says what it is, and the name is bound anew
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence


def values(item):
    match item:
        case PackedSequence():
            return item.data.sum()
        case torch.Tensor() as dense if dense.dim() > 1:
            return dense.data.mean()
        case [torch.Tensor() as item, *_]:
            return item.data.max()
        case torch.Tensor():
            item = pack_padded_sequence(item.view(1, -1), [len(item)], batch_first=True)
    return item.data.prod()


x = torch.arange(1.0, 5.0)
packed = pack_padded_sequence(x.view(1, -1, 1), [4], batch_first=True)
print([values(one).item() for one in (packed, x.view(2, 2), [x, None], x)])
