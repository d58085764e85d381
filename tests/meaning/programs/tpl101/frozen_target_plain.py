# attacks: TPL101
# promise: a bootstrap target that is cut on purpose stays cut
# stays safe: yes
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
q = nn.Linear(3, 2)
optimizer = torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(3):
    state, following, reward = torch.randn(4, 3), torch.randn(4, 3), torch.randn(4)
    expected = Variable(reward + 0.9 * q(following).max(dim=1)[0].data)
    loss = (q(state).max(dim=1)[0] - expected).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
