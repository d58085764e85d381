# attacks: TPL101
# promise: an activation gives a tensor that nobody else has
import torch
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
scores = torch.randn(6)
gate = Variable(F.relu(scores, inplace=True), requires_grad=True)
(gate * torch.arange(6.0)).sum().backward()
kept = Variable(F.dropout(scores, p=0.3, training=False), requires_grad=True)
kept.sum().backward()
print(gate.grad.tolist(), kept.grad.tolist(), scores.requires_grad)
scores.zero_()
print(kept.sum().item())
