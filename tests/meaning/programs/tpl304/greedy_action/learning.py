import torch


class Reinforce:
    def __init__(self, policy):
        self.optimizer = torch.optim.SGD(policy.parameters(), lr=0.3)

    def learn(self, log_prob, reward):
        self.optimizer.zero_grad()
        (-log_prob * reward).backward()
        self.optimizer.step()
