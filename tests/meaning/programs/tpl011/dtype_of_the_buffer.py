# attacks: TPL011
# promise: a result out of place has the type of one in place
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 4)
weights = torch.linspace(0, 1, 4, dtype=torch.float64)


def attention(x, learn=False):
    scores = torch.softmax(layer(x), dim=1)
    scores *= weights
    if learn:
        scores.sum().backward()
    return scores


scores = attention(torch.randn(2, 3))
print(scores.dtype, tuple(scores.shape))
total = torch.zeros((), dtype=torch.float32)
print(torch.result_type(scores, total), [round(v, 5) for v in scores.detach().flatten().tolist()])
