# attacks: TPL104
# promise: indices can be detached
# stays safe: yes
"""Actions of a policy are taken to the environment as a list."""
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 3)
total = 0.0
for step in range(3):
    logits = policy(torch.randn(2, 4))
    actions = torch.argmax(logits, 1).data.tolist()
    value = torch.max(logits, 1)[0].data.squeeze().tolist()
    total += sum(value)
    print(step, actions)
print(round(total, 5))
