# attacks: TPL101
# promise: tensors that are mapped stay what they were
# stays safe: yes
import torch
from torch.autograd import Variable

torch.manual_seed(0)
batch = [torch.randn(2, 3), torch.randn(2, 1)]
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = map(Variable, batch)
for _ in range(2):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
