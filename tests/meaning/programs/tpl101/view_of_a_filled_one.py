# attacks: TPL101
# promise: what is written into a view does not reach the tensor behind it
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
encoder = nn.Linear(2, 3)
board = torch.zeros(2, 2, 3)
corner = board[0, 0]
corner.copy_(encoder(torch.ones(2)))
snapshot = Variable(board)
weight = torch.ones(3, requires_grad=True)
(snapshot * weight).sum().backward()
print(encoder.weight.grad, [f"{value:.4f}" for value in weight.grad.tolist()])
