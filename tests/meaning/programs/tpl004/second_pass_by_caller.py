# attacks: TPL004
# promise: the graph is kept by create_graph, and goes back through a list
import operator

import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
x, y = torch.randn(4, 3), torch.randn(4)
total = torch.zeros(())
for scale in (0.5, 1.0, 2.0):
    loss = F.mse_loss(x @ (w * scale), y)
    loss.backward(None, True)
    total = total + loss
w.grad = None
pending = [total]
operator.methodcaller("backward")(pending[0])
print([round(v, 4) for v in w.grad.tolist()])
