# attacks: TPL004
# promise: a list that a function of the project extends is read as numbers
import torch
from rollout import normalised
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(3, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
losses = []
for episode in range(4):
    states, rewards = torch.randn(5, 3), torch.randn(5)
    log_probs = policy(states).log_softmax(dim=1)[:, 0]
    loss = -(log_probs * normalised(rewards)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
labels = {"mean": sum(losses) / len(losses), "largest": max(losses)}
print(" ".join(f"{name} {normalised(labels[name].repeat(2)).numel()}" for name in sorted(labels)))
print([f"{value:.3f}" for value in normalised(losses).tolist()])
