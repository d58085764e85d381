# attacks: TPL001
# promise: the target is moved while the critic's loss waits for the actor's
import copy

import torch
import torch.nn as nn

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(2, 1), nn.Linear(3, 1)
        self.target = copy.deepcopy(self.critic)
        self.optimizer = torch.optim.SGD(self.actor.parameters(), lr=0.1)

    def value(self, net, state):
        return net(torch.cat([state, torch.tanh(self.actor(state))], dim=1)).mean()

    def soft_update(self, tau):
        for slow, fast in zip(self.target.parameters(), self.critic.parameters()):
            slow.data.mul_(1 - tau).add_(tau * fast.data)

    def learn(self, state):
        loss = -self.value(self.target, state)
        self.soft_update(0.5)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return round(loss.item(), 4)


agent = Agent()
print([agent.learn(torch.randn(4, 2)) for _ in range(2)])
print([round(v, 4) for v in agent.actor.weight.flatten().tolist()])
