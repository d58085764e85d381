import torch
from torch import nn, optim

torch.manual_seed(5)
LENGTH = 6
policy = nn.Sequential(nn.Linear(LENGTH, 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(dim=1))
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
history = []
for _ in range(8):
    place, log_probabilities, rewards = 2, [], []
    for _ in range(20):
        probabilities = policy(nn.functional.one_hot(torch.tensor([place]), LENGTH).float())
        action = torch.multinomial(probabilities.detach(), 1)
        log_probabilities.append(probabilities.gather(1, action).log())
        place = max(0, place + (1 if action.item() == 1 else -1))
        done = place == LENGTH - 1
        rewards.append(1.0 if done else -0.1)
        if done:
            break
    returns, value = [], 0.0
    for reward in reversed(rewards):
        value = reward + 0.9 * value
        returns.insert(0, value)
    weights = torch.tensor(returns)
    weights = (weights - weights.mean()) / (weights.std() + torch.finfo(torch.float32).eps)
    loss = -(torch.cat(log_probabilities).squeeze(1) * weights).sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1)
    optimizer.step()
    history.append(loss.item())
