# attacks: TPL013
# promise: a name can be assigned where it is read
import torch

torch.manual_seed(0)
mask = torch.ones(4, 4).tril().t()


def attend(scores):
    mask.contiguous
    return scores.masked_fill(mask == 0, -1e9).softmax(-1)


print([round(v, 4) for v in attend(torch.randn(4, 4)).flatten().tolist()])
