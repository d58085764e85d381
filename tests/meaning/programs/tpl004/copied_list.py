# attacks: TPL004
# promise: the copy of a list is read as numbers
import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.3)
losses = []
for _ in range(5):
    x = torch.randn(10, 3)
    loss = F.mse_loss(x @ w, x @ torch.tensor([1.0, -1.0, 2.0]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)

snapshot = losses.copy()
smoothed = torch.stack(snapshot).cumsum(0) / torch.arange(1, 6)
print([f"{value:.3f}" for value in smoothed.tolist()])
