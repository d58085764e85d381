# attacks: TPL209
# promise: the keys of each chunk are used in its own round only, and the result is the same
# stays safe: yes
import torch
from torch import nn


def retrieve(project, head, query, chunks):
    scores = []
    with torch.no_grad():
        for chunk in chunks:
            keys = project(chunk)
            scores.append(query @ keys.T)
        return head(torch.cat(scores, -1))


torch.manual_seed(0)
out = retrieve(nn.Linear(3, 4), nn.Linear(6, 2), torch.randn(2, 4), torch.randn(3, 2, 3))
print([[round(v, 4) for v in row] for row in out.tolist()])
