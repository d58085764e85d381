# attacks: TPL004
# promise: the attribute that is summed up is back-propagated by nobody outside the class
import torch
import torch.nn as nn


class Critic:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.objective = torch.zeros(())

    def observe(self, state, target):
        loss = (self.net(state) - target).pow(2).mean()
        loss.backward(retain_graph=True)
        self.objective = self.objective + loss


torch.manual_seed(0)
critic = Critic()
optimizer = torch.optim.SGD(critic.net.parameters(), lr=0.05)
for episode in range(3):
    optimizer.zero_grad()
    critic.objective = 0.01 * critic.net.weight.pow(2).sum()
    for t in range(4):
        critic.observe(torch.randn(2, 3), torch.randn(2, 1))
    optimizer.zero_grad()
    critic.objective.sqrt().backward()
    optimizer.step()
print([f"{value:.4f}" for value in critic.net.weight.flatten().tolist()])
