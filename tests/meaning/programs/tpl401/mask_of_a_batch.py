# attacks: TPL401
# promise: a mask that is made where the batch is has the same values
# stays safe: yes
import torch


def causal(x: torch.Tensor):
    length = x.size(1)
    ones = torch.ones(length, length).to(x.device)
    blocked = torch.triu(ones, diagonal=1).bool()
    bias = torch.zeros(length, length).type_as(x).masked_fill(blocked, float("-inf"))
    return (x @ x.transpose(1, 2) + bias).softmax(-1)


weights = causal(torch.eye(3, dtype=torch.float64)[None])
print(weights.dtype, [[round(v, 4) for v in row] for row in weights[0].tolist()])
