# attacks: TPL009
# promise: a state that is loaded later was meant to be a copy
import torch
from torch import nn

torch.manual_seed(0)
policy, target = nn.Linear(4, 2), nn.Linear(4, 2)
live = policy.state_dict()  # follows the policy: syncing is one load
target.load_state_dict(live)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)

for step in range(1, 7):
    state, following = torch.randn(8, 4), torch.randn(8, 4)
    with torch.no_grad():
        goal = 1 + 0.9 * target(following).max(1).values
    loss = (policy(state).max(1).values - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        target.load_state_dict(live)
        print(step, torch.equal(target.weight, policy.weight), round(loss.item(), 5))
