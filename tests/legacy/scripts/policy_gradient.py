"""REINFORCE on a corridor: the right end is where the reward is."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

torch.manual_seed(5)


class Corridor(object):
    length = 6

    def reset(self):
        self.place = 2
        return self._state()

    def _state(self):
        state = np.zeros(self.length)
        state[self.place] = 1
        return state

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        done = self.place == self.length - 1
        return self._state(), 1.0 if done else -0.1, done, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(6, 16)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_scores = self.affine2(x)
        return F.softmax(action_scores)


env = Corridor()
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
history = []


def select_action(state):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs = policy(Variable(state))
    action = probs.multinomial()
    policy.saved_log_probs.append(torch.log(probs.gather(1, Variable(action.data))))
    return action.data[0, 0]


def finish_episode():
    R = 0
    policy_loss = []
    rewards = []
    for r in policy.rewards[::-1]:
        R = r + 0.9 * R
        rewards.insert(0, R)
    rewards = torch.Tensor(rewards)
    rewards = (rewards - rewards.mean()) / (rewards.std() + np.finfo(np.float32).eps)
    for log_prob, reward in zip(policy.saved_log_probs, rewards):
        policy_loss.append(-log_prob * reward)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    torch.nn.utils.clip_grad_norm(policy.parameters(), 1)
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    history.append(policy_loss.data[0])


for i_episode in range(8):
    state = env.reset()
    for t in range(20):
        action = select_action(state)
        state, reward, done, _ = env.step(action)
        policy.rewards.append(reward)
        if done:
            break
    finish_episode()
