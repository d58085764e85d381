# attacks: TPL004
# promise: what a `key=` function is given is read as a number
import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
losses = []
for episode in range(5):
    states = torch.randn(6, 4)
    rewards = torch.randn(6)
    log_probs = torch.log_softmax(policy(states), dim=1)[:, 0]
    loss = -(log_probs * rewards).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)

print(f"closest to zero: {min(losses, key=torch.abs):.4f}")
print(f"largest: {max(losses, key=lambda value: value.square().item()):.4f}")
