# attacks: TPL012
# promise: a backward that the file does not show does not need the graph
import penalties
import torch
from torch import nn

torch.manual_seed(0)
penalties.watch(nn.Linear, strength=0.1)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(6, 3), torch.randn(6, 1)) for _ in range(3)]:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(torch.tanh(model(x)), y)
    loss.backward(retain_graph=True)
    optimizer.step()
    print(round(loss.item(), 5), round(model.weight.sum().item(), 5))
