# attacks: TPL104
# promise: a tensor without memory refuses numpy in another way than it refuses to move
import torch
import torch.nn as nn

net = nn.Linear(3, 2, device="meta")


def sizes(batch):
    out = torch.relu(net(batch))
    try:
        return torch.sigmoid(out).data.numpy().shape
    except TypeError:
        return tuple(out.shape), "planned"


print(sizes(torch.ones(4, 3, device="meta")))
