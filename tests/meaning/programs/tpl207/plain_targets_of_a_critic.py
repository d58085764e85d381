# attacks: TPL207
# promise: the target is a copy without a graph
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
critic = nn.Linear(3, 1)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(3):
    state, following = torch.randn(4, 3), torch.randn(4, 3)
    target = torch.tensor(1 + 0.9 * critic(following))
    loss = F.mse_loss(critic(state), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4), target.requires_grad)
