# attacks: TPL009, TPL014
# promise: all safe fixes together leave live states and views of a replay memory as they were
import random

import torch
from torch import nn

torch.manual_seed(8)
random.seed(8)
device = torch.device("cpu")
policy_net, target_net = nn.Linear(4, 2), nn.Linear(4, 2)
policy_state, target_state = policy_net.state_dict(), target_net.state_dict()
target_net.load_state_dict(policy_state)
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-2, amsgrad=True)
memory = torch.zeros(16, 10)
returns, episode_return = [], 0
state = torch.randn(4)

for step in range(12):
    slot = memory[step % 16]
    slot.to(device)
    epsilon = 0.5 * 0.9**step
    if random.random() < epsilon:
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = policy_net(state).argmax().item()
    following = torch.randn(4)
    reward = state[action] - following.abs().mean()
    slot.copy_(torch.cat([state, following, torch.tensor([float(action), reward])]))
    episode_return += reward
    state = following
    if step >= 4:
        batch = memory[torch.randint(0, step + 1, (4,))]
        q = policy_net(batch[:, :4]).gather(1, batch[:, 8:9].long()).squeeze(1)
        with torch.no_grad():
            goal = batch[:, 9] + 0.9 * target_net(batch[:, 4:8]).max(1).values
        loss = nn.functional.smooth_l1_loss(q, goal)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
        optimizer.step()
        target_net.load_state_dict({k: 0.1 * policy_state[k] + 0.9 * target_state[k] for k in policy_state})
    if step % 6 == 5:
        returns.append(episode_return)
        episode_return = 0
print([round(float(r), 5) for r in returns], round(memory.sum().item(), 5))
print(round(loss.item(), 5), round(target_net.weight.sum().item(), 5))
