# attacks: TPL203
# promise: `expand_as` makes one row of memory into many; it expands nothing where the shapes agree
import torch


def blank_out(scores, like, column):
    scores = torch.log_softmax(scores, -1)
    view = scores.expand_as(like)
    view[:, column] = float("-inf")
    return scores.exp()


torch.manual_seed(0)
scores = torch.randn(3, 4)
print([[round(v, 3) for v in row] for row in blank_out(scores, torch.empty(3, 4), 1).tolist()])
