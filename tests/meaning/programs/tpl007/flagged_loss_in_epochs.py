# attacks: TPL007, TPL004
# promise: what was summed up hangs on no graph but its own
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(3):
    x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))
    loss = torch.tensor(F.cross_entropy(model(x), y).item(), requires_grad=True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
print([loss.grad.item() for loss in losses], model.weight.grad, losses[0].is_leaf)
