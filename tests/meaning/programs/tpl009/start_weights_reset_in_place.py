# attacks: TPL009
# promise: a state that is kept under such a name is only read
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
saved = model.state_dict()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
x, y = torch.randn(8, 3), torch.randn(8, 2)
for round_ in range(3):
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(round_, round(loss.item(), 5), round(saved["bias"].sum().item(), 5))
    saved["bias"].zero_()
    saved["weight"].mul_(0.5)
print([round(v, 5) for v in model.weight.detach().flatten().tolist()], model.bias.tolist())
