# attacks: TPL001
# promise: inference mode evaluates what was made outside of it
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Linear(2, 1)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
batches = [torch.randn(4, 2) for _ in range(3)]


def evaluate():
    with torch.inference_mode():
        return max([critic(batch).mean().item() for batch in batches])


for batch in batches:
    optimizer.zero_grad()
    critic(batch).mean().backward()
    optimizer.step()
    critic.weight.data.clamp_(-0.1, 0.1)
    print(round(evaluate(), 4))
