# attacks: TPL001
# promise: dropout outside of training gives its input, so that what it gives is not the only one
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Linear(4, 3)
hidden = torch.tanh(encoder(torch.randn(5, 4)))
features = F.dropout(hidden, p=0.5, training=False).data
features.div_(features.norm(dim=1, keepdim=True))
flat = nn.Flatten()(hidden).data
flat.mul_(0.5)
hidden.sum().backward()
print([round(v, 4) for v in encoder.bias.grad.tolist()])
