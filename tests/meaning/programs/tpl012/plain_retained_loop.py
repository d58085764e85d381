# attacks: TPL012
# promise: a graph that is retained for nothing may be freed
import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for x, y in [(torch.randn(4, 3), torch.randn(4, 3)) for _ in range(3)]:
    optimizer.zero_grad()
    loss = F.mse_loss(w * x, y)
    loss.backward(retain_graph=True)
    optimizer.step()
    print(round(loss.item(), 5))
