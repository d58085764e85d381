# attacks: TPL009
# promise: the best weights are restored at the end
# shows: the best weights were those of the last epoch
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.9)
x, y = torch.randn(20, 4), torch.randn(20, 1)
best_loss = float("inf")
best_state = model.state_dict()
for epoch in range(6):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    if loss.item() < best_loss:
        best_loss = loss.item()
        best_state = model.state_dict()
    loss.backward()
    optimizer.step()
model.load_state_dict(best_state)
print(abs(nn.functional.mse_loss(model(x), y).item() - best_loss) < 1e-6)
