# attacks: TPL002, TPL101
# promise: all safe fixes together leave a policy gradient with saved log-probabilities as it was
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(3)


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 8)
        self.affine2 = nn.Linear(8, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
running_reward = 10


def select_action(state):
    probs = policy(Variable(state.unsqueeze(0)))
    action = probs.multinomial(1)
    policy.saved_log_probs.append(probs.gather(1, action).log())
    return action.data[0, 0]


def finish_episode():
    R, policy_loss, rewards = 0, 0, []
    for r in policy.rewards[::-1]:
        R = r + 0.9 * R
        rewards.insert(0, R)
    rewards = torch.stack(rewards)
    rewards = (rewards - rewards.mean()) / (rewards.std() + 1e-5)
    for log_prob, reward in zip(policy.saved_log_probs, rewards):
        policy_loss += (-log_prob * reward).sum()
    optimizer.zero_grad()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:], policy.saved_log_probs[:]
    return policy_loss


for episode in range(3):
    state = torch.randn(4)
    for t in range(5):
        action = select_action(state)
        policy.rewards.append((state[0] * (1 - 2 * action)).data)
        state = torch.randn(4) + action.float()
    running_reward = running_reward * 0.9 + sum(policy.rewards) * 0.1
    loss = finish_episode()
    print(episode, round(loss.item(), 4), round(float(running_reward), 5), type(running_reward).__name__)
print(round(sum(p.data.abs().sum().item() for p in policy.parameters()), 4))
