# attacks: TPL009
# promise: a state that is loaded into another model was meant to be a copy
import torch
from torch import nn

torch.manual_seed(0)
online, target_net = nn.Linear(3, 1), nn.Linear(3, 1)
online_state, target_state = online.state_dict(), target_net.state_dict()
optimizer = torch.optim.SGD(online.parameters(), lr=0.05)
tau = 0.25
for step in range(5):
    x = torch.randn(6, 3)
    loss = (online(x) - 0.9 * target_net(x).detach() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    target_net.load_state_dict({k: (1 - tau) * target_state[k] + tau * online_state[k] for k in online_state})
print([round(v, 5) for v in target_net.weight.detach().flatten().tolist()])
