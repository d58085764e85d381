# attacks: TPL304
# promise: `insert` and `appendleft` on what the caller lent hand the graph out
from collections import deque

import torch
from torch import nn


def remember(policy, observations, history, values):
    policy.eval()
    for observation in observations:
        logits = policy(observation)
        history.insert(0, logits.log_softmax(-1)[logits.argmax()])
        values.appendleft(logits.max())


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
for episode in range(3):
    history, values = [], deque(maxlen=4)
    remember(policy, [torch.randn(3) for _ in range(5)], history, values)
    returns = torch.arange(5.0) / 5
    objective = -(torch.stack(history) * returns).sum() + 0.1 * sum(values)
    optimizer.zero_grad()
    objective.backward()
    optimizer.step()
    print(episode, len(history), round(objective.item(), 3))
