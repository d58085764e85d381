import torch


class Memory:
    def __init__(self):
        self.log_probs, self.rewards = [], []

    def push(self, log_prob, reward):
        self.log_probs.append(log_prob)
        self.rewards.append(reward)

    def learn(self, policy):
        loss = -(torch.stack(self.log_probs) * torch.tensor(self.rewards)).mean()
        policy.zero_grad()
        loss.backward()
        for p in policy.parameters():
            p.data.sub_(0.5 * p.grad)
        self.log_probs.clear()
        self.rewards.clear()
        return round(loss.item(), 4)
